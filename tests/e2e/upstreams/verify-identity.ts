import type { IncomingMessage } from 'node:http';
import { createRemoteJWKSet, type JWTPayload, jwtVerify } from 'jose';

/** Verifies `X-Identity-Token` of a request as an internal service does. Rejects a request that did not come through the API. */
export type VerifyIdentity = (request: IncomingMessage) => Promise<JWTPayload>;

/** @param internalUrl the API's internal listener, read when the first request comes: the API starts after its upstreams */
export function createVerifyIdentity(area: string, internalUrl: () => string): VerifyIdentity {
  let keys: ReturnType<typeof createRemoteJWKSet> | undefined;
  return async ({ headers }) => {
    keys ??= createRemoteJWKSet(new URL('/internal/v1/jwks.json', internalUrl()));
    const token = String(headers['x-identity-token']);
    const expected = { issuer: 'enterprise-api', audience: area, algorithms: ['EdDSA'] };
    return (await jwtVerify(token, keys, expected)).payload;
  };
}
