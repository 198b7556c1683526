import type { Plan, Scope } from '@enterprise-api/shared/contracts';
import { toPublicId } from '@enterprise-api/shared/runtime';
import type { EncryptionKey } from '@enterprise-api/shared/security';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { createLocalJWKSet, type JWTVerifyOptions, jwtVerify } from 'jose';
import { createIdentityTokens, type IdentityTokens, type TokenSubject } from './identity-tokens.ts';

const keyId = '019a0000-0000-7000-8000-000000000001';
const organizationId = '019a0000-0000-7000-8000-000000000002';
const startMs = Date.UTC(2026, 10, 21, 7, 0, 0, 999);
const oneMinuteMs = 60_000;

function seed(id: string, fill: number): EncryptionKey {
  return { id, key: Buffer.alloc(32, fill) };
}

function subject(changes: { id?: string; scopes?: Scope[]; plan?: Plan } = {}): TokenSubject {
  const { id = keyId, scopes = ['batches:read', 'consultations:write'], plan = 'business' } = changes;
  return { id, scopes, organization: { id: organizationId, plan } };
}

let nowMs: number;
let tokens: IdentityTokens;
const clock = { now: () => nowMs };
beforeEach(() => {
  nowMs = startMs;
  tokens = createIdentityTokens({ keys: [seed('new', 2), seed('old', 1)], clock });
});

/** Verifies as an internal service does, whose clock differs from the token's by this time. */
async function verify(token: string, { skewMs = 0, ...options }: JWTVerifyOptions & { skewMs?: number } = {}) {
  const known = createLocalJWKSet({ keys: [...tokens.publicKeys] });
  const currentDate = new Date(nowMs + skewMs);
  return jwtVerify(token, known, { issuer: 'enterprise-api', algorithms: ['EdDSA'], currentDate, ...options });
}

describe('an identity token', () => {
  it('names the key, its organization, plan and scopes, and the audience, for five minutes', async () => {
    const { payload, protectedHeader } = await verify((await tokens.tokenFor(subject(), 'batches')) ?? '');
    expect(protectedHeader).toEqual({ alg: 'EdDSA', kid: 'new' });
    expect(payload).toEqual({
      iss: 'enterprise-api',
      aud: 'batches',
      sub: toPublicId('key', keyId),
      org: toPublicId('org', organizationId),
      plan: 'business',
      scopes: ['batches:read', 'consultations:write'],
      iat: Math.floor(startMs / 1_000),
      exp: Math.floor(startMs / 1_000) + 300,
    });
  });

  it('is refused by the service of another area, and when one character differs', async () => {
    const token = (await tokens.tokenFor(subject(), 'batches')) ?? '';
    await expect(verify(token, { audience: 'consultations' })).rejects.toThrow('unexpected "aud" claim');
    const [header = '', , signature = ''] = token.split('.');
    const [, claims = ''] = ((await tokens.tokenFor(subject({ plan: 'enterprise' }), 'batches')) ?? '').split('.');
    await expect(verify([header, claims, signature].join('.'))).rejects.toThrow('signature verification failed');
  });

  it.each([0, oneMinuteMs - 1])(
    'is accepted, %d ms after it was made, by a service whose clock is a minute behind or ahead',
    async (ageMs) => {
      const token = (await tokens.tokenFor(subject(), 'batches')) ?? '';
      nowMs += ageMs;
      for (const skewMs of [-oneMinuteMs, oneMinuteMs]) {
        // A verifier that looks at `iat` as well allows for the clocks by itself.
        for (const strict of [{}, { maxTokenAge: '5 minutes', clockTolerance: '1 minute' }]) {
          expect((await verify(token, { skewMs, ...strict })).payload.aud).toBe('batches');
        }
      }
    },
  );

  it('is refused after five minutes', async () => {
    const token = (await tokens.tokenFor(subject(), 'batches')) ?? '';
    nowMs += 5 * oneMinuteMs;
    await expect(verify(token)).rejects.toThrow('"exp" claim timestamp check failed');
  });

  it('is signed with the first of the keys, and all of them are published without their private part', () => {
    expect(tokens.publicKeys.map(({ kid }) => kid)).toEqual(['new', 'old']);
    for (const key of tokens.publicKeys)
      expect(Object.keys(key).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x']);
  });

  it('has the public key that RFC 8037 (appendix A) derives from its seed', () => {
    const key = Buffer.from('nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A', 'base64url');
    const [published] = createIdentityTokens({ keys: [{ id: 'rfc', key }], clock }).publicKeys;
    expect(published?.x).toBe('11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo');
  });

  it('is not made where no signing key is set', () => {
    const none = createIdentityTokens({ keys: undefined, clock });
    expect([none.tokenFor(subject(), 'batches'), none.publicKeys]).toEqual([undefined, []]);
  });
});

describe('the cache of identity tokens', () => {
  it('answers without a promise for a minute, whichever copy of the key asks, and then has a new token made', async () => {
    const token = (await tokens.tokenFor(subject(), 'batches')) ?? '';
    expect(typeof token).toBe('string');
    nowMs += oneMinuteMs - 1;
    expect(tokens.tokenFor(subject(), 'batches')).toBe(token);
    nowMs += 1;
    const next = tokens.tokenFor(subject(), 'batches');
    expect(next).toBeInstanceOf(Promise);
    expect((await verify((await next) ?? '')).payload.iat).toBe(Math.floor(nowMs / 1_000));
  });

  it('has one token made for all requests that ask while it is signed', async () => {
    const first = tokens.tokenFor(subject(), 'batches');
    expect(first).toBeInstanceOf(Promise);
    // Another signature in the same second would be the same text.
    nowMs += 1_000;
    const second = tokens.tokenFor(subject(), 'batches');
    expect(await second).toBe(await first);
    expect(tokens.tokenFor(subject(), 'batches')).toBe(await first);
  });

  const fewer: Scope[] = ['batches:read'];
  const others: Scope[] = ['batches:read', 'batches:write'];
  const more: Scope[] = ['batches:read', 'consultations:write', 'panels:read'];

  it.each<[string, TokenSubject, Record<string, unknown>]>([
    ['the plan', subject({ plan: 'pro' }), { plan: 'pro' }],
    ['one scope', subject({ scopes: others }), { scopes: others }],
    ['the number of scopes, down,', subject({ scopes: fewer }), { scopes: fewer }],
    ['the number of scopes, up,', subject({ scopes: more }), { scopes: more }],
  ])('has a new token made at once when %s of the key changes', async (_what, changed, claims) => {
    const before = await tokens.tokenFor(subject(), 'batches');
    const after = (await tokens.tokenFor(changed, 'batches')) ?? '';
    expect(after).not.toBe(before);
    expect((await verify(after)).payload).toMatchObject(claims);
    expect(tokens.tokenFor(changed, 'batches')).toBe(after);
  });

  it('keeps the token of the changed key when the one from before is signed last', async () => {
    const before = tokens.tokenFor(subject(), 'batches');
    const after = tokens.tokenFor(subject({ plan: 'pro' }), 'batches');
    await Promise.all([after, before]);
    expect(tokens.tokenFor(subject({ plan: 'pro' }), 'batches')).toBe(await after);
  });

  it('gives no token to another key or audience', async () => {
    const other = '019a0000-0000-7000-8000-000000000009';
    const asked = [tokens.tokenFor(subject(), 'batches'), tokens.tokenFor(subject({ id: other }), 'batches')];
    const made = await Promise.all([...asked, tokens.tokenFor(subject(), 'api')]);
    expect(new Set(made).size).toBe(3);
    const found = await Promise.all(made.map(async (token) => (await verify(token ?? '')).payload));
    expect(found.map(({ sub, aud }) => [sub, aud])).toEqual([
      [toPublicId('key', keyId), 'batches'],
      [toPublicId('key', other), 'batches'],
      [toPublicId('key', keyId), 'api'],
    ]);
  });

  it('has a new token made when the clock was set back', async () => {
    await tokens.tokenFor(subject(), 'batches');
    nowMs -= 10 * oneMinuteMs;
    const { payload } = await verify((await tokens.tokenFor(subject(), 'batches')) ?? '');
    expect(payload.iat).toBe(Math.floor(nowMs / 1_000));
  });
});
