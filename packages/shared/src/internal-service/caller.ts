import { createRemoteJWKSet, errors, jwtVerify } from 'jose';
import { type Area, identityTokenIssuer } from '../contracts/index.ts';
import { RequestError } from './errors.ts';

/** Who sent a request that came through the API, as the API has authenticated it. */
export interface Caller {
  /** Public ids: `org_…` and `key_…`. */
  organizationId: string;
  keyId: string;
  plan: string;
  /** Of the key. The API has checked the one that the request needs. */
  scopes: readonly string[];
}

/**
 * Finds out who sent a request.
 *
 * @param token `X-Identity-Token` of the request
 * @param area the area that the request belongs to: a token for another area is refused
 * @throws RequestError `unauthorized` when the request did not come through the API or its token has expired,
 *   `service_unavailable` while the keys of the API cannot be read
 */
export type IdentifyCaller = (token: string | undefined, area: Area) => Promise<Caller>;

/**
 * Anybody on a service's network can send it `X-Organization-Id`. Only the API can sign an identity token (RFC 7519), and
 * one that it made for another area has another audience. See docs/security.md.
 *
 * @param apiInternalUrl the API's internal listener: its public keys are fetched once, and again when a token names a new one
 */
export function createIdentifyCaller(apiInternalUrl: string): IdentifyCaller {
  const keys = createRemoteJWKSet(new URL('/internal/v1/jwks.json', apiInternalUrl));
  return async (token = '', audience) => {
    try {
      const expected = { issuer: identityTokenIssuer, audience, algorithms: ['EdDSA'] };
      const { payload } = await jwtVerify<Claims>(token, keys, expected);
      return { organizationId: payload.org, keyId: payload.sub, plan: payload.plan, scopes: payload.scopes };
    } catch (cause) {
      const isRefused = cause instanceof errors.JOSEError && !keySetErrors.has(cause.code);
      if (isRefused) throw new RequestError('unauthorized', 'The request did not come through the API.', { cause });
      throw new RequestError('service_unavailable', 'The keys of the API cannot be read.', { cause });
    }
  };
}

/** The key set did not come in time, was not answered with 200 and JSON (the generic code), or is no key set. */
const keySetErrors: ReadonlySet<string> = new Set([
  errors.JOSEError.code,
  errors.JWKSTimeout.code,
  errors.JWKSInvalid.code,
]);

interface Claims {
  sub: string;
  org: string;
  plan: string;
  scopes: string[];
}
