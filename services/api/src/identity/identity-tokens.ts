import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import {
  type Area,
  identityTokenIssuer,
  type Plan,
  type PublicSigningKey,
  type Scope,
} from '@enterprise-api/shared/contracts';
import { BoundedMap, type Clock, toPublicId, type Uuid } from '@enterprise-api/shared/runtime';
import type { EncryptionKey, KeyRing } from '@enterprise-api/shared/security';
import { SignJWT } from 'jose/jwt/sign';

export interface TokenSubject {
  readonly id: Uuid;
  readonly scopes: readonly Scope[];
  readonly organization: { readonly id: Uuid; readonly plan: Plan };
}

/** The recipient of a token: the service of an area, this API, or another service that an ingress forwards to. */
type Audience = Area | 'api' | 'ingress';

/**
 * Creates signed tokens. With them, internal services verify that this API checked a request, and identify the caller.
 */
export interface IdentityTokens {
  /**
   * Returns the token of a key for an audience; undefined if `IDENTITY_SIGNING_KEYS` is unset. A token younger than one
   * minute is returned synchronously.
   */
  tokenFor(key: TokenSubject, audience: Audience): string | Promise<string> | undefined;
  /** The public keys that verify tokens: the signing key first, then future and former ones. */
  readonly publicKeys: readonly PublicSigningKey[];
}

export interface IdentityTokensOptions {
  keys: KeyRing | undefined;
  /** The database's clock, so that every process has the same time even if a machine's wall clock is wrong. */
  clock: Pick<Clock, 'now'>;
}

const lifetimeSeconds = 300;
/** A reused token stays valid for at least four minutes, enough for a service whose clock is one minute off. */
const reusedForMs = 60_000;

export function createIdentityTokens({ keys, clock }: IdentityTokensOptions): IdentityTokens {
  if (keys === undefined) return { tokenFor: () => undefined, publicKeys: [] };
  const [first, ...others] = keys;
  const signer = toSigningKey(first);
  const cached = new BoundedMap<string, CachedToken>();
  return {
    publicKeys: [signer, ...others.map(toSigningKey)].map(({ published }) => published),
    tokenFor: (key, audience) => {
      const name = [audience, key.id, key.organization.plan, ...key.scopes].join(' ');
      const nowMs = clock.now();
      const known = cached.get(name);
      if (known !== undefined && isReused(nowMs - known.madeAtMs)) return known.token;
      const made: CachedToken = { madeAtMs: nowMs, token: '' };
      made.token = sign(signer, key, audience, nowMs).then(
        (token) => {
          made.token = token;
          return token;
        },
        (error) => {
          cached.delete(name);
          throw error;
        },
      );
      cached.set(name, made);
      return made.token;
    },
  };
}

/** If the clock was set back, the age is negative, and the token would not be valid yet. */
function isReused(ageMs: number): boolean {
  return ageMs >= 0 && ageMs < reusedForMs;
}

interface CachedToken {
  readonly madeAtMs: number;
  /** A promise while the token is being signed. All requests for this token share the promise. */
  token: string | Promise<string>;
}

function sign(signer: SigningKey, key: TokenSubject, audience: Audience, nowMs: number): Promise<string> {
  const issuedAt = Math.floor(nowMs / 1_000);
  const { id, plan } = key.organization;
  return new SignJWT({ org: toPublicId('org', id), plan, scopes: [...key.scopes] })
    .setProtectedHeader({ alg: signer.published.alg, kid: signer.published.kid })
    .setIssuer(identityTokenIssuer)
    .setAudience(audience)
    .setSubject(toPublicId('key', key.id))
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + lifetimeSeconds)
    .sign(signer.privateKey);
}

interface SigningKey {
  readonly privateKey: KeyObject;
  readonly published: PublicSigningKey;
}

/** The bytes before the 32-byte seed in a PKCS #8 private key for Ed25519 (RFC 8410, section 7). */
const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex');

function toSigningKey({ id: kid, key: seed }: EncryptionKey): SigningKey {
  const privateKey = createPrivateKey({ key: Buffer.concat([pkcs8Prefix, seed]), format: 'der', type: 'pkcs8' });
  const { x = '' } = createPublicKey(privateKey).export({ format: 'jwk' });
  return { privateKey, published: { kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA', use: 'sig', kid, x } };
}

export function identityHeaders({ id, scopes, organization }: TokenSubject): Record<string, string> {
  return {
    'X-Organization-Id': toPublicId('org', organization.id),
    'X-Organization-Plan': organization.plan,
    'X-Api-Key-Id': toPublicId('key', id),
    'X-Api-Key-Scopes': scopes.join(' '),
  };
}
