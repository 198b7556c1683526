import { createRemoteJWKSet, errors, jwtVerify } from 'jose';
import { type Area, identityTokenIssuer } from '../contracts/index.ts';
import { RequestError } from './errors.ts';

export interface Caller {
  /** `organizationId` and `keyId` are public ids: `org_…` and `key_…`. */
  organizationId: string;
  keyId: string;
  plan: string;
  /** The key's scopes. The API has already checked the scope that the request needs. */
  scopes: readonly string[];
}

/**
 * Identifies the sender of a request.
 *
 * @param token `X-Identity-Token` of the request
 * @param area the area of the request; a token for another area is refused
 * @throws RequestError `unauthorized` if the request did not come through the API or its token has expired,
 *   `service_unavailable` while the API's keys cannot be read
 */
export type IdentifyCaller = (token: string | undefined, area: Area) => Promise<Caller>;

/**
 * Services must not trust `X-Organization-Id`, because anybody on their network can send it. Only the API can sign an
 * identity token (RFC 7519), and a token for another area has another audience. See docs/internal/behind-the-door.md.
 *
 * @param apiInternalUrl the API's internal listener. The API's public keys are fetched once, and again if a token names
 *   a new key
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

/** Error codes of jose: the key set timed out, is not JSON with status 200 (the generic code), or is invalid. */
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
