import { createRemoteJWKSet, errors, jwtVerify } from 'jose';

/**
 * Anybody on this network can send us `X-Organization-Id`. Only the API can sign an identity token, and one that it made
 * for another area has another audience.
 *
 * @param keysUrl the API's public keys: fetched once, and again when a token names a new one
 * @returns finds whose request it is, by its token; undefined when it did not come through the API
 */
export function createIdentityCheck(keysUrl: URL): (token: string, area: string) => Promise<string | undefined> {
  const keys = createRemoteJWKSet(keysUrl);
  return async (token, audience) => {
    try {
      const expected = { issuer: 'enterprise-api', audience, algorithms: ['EdDSA'] };
      return (await jwtVerify<{ org: string }>(token, keys, expected)).payload.org;
    } catch (error) {
      if (error instanceof errors.JOSEError && !(error instanceof errors.JWKSTimeout)) return undefined;
      const cause = new Error('The keys of the API cannot be read.', { cause: error });
      throw Object.assign(cause, { status: 503, code: 'service_unavailable' });
    }
  };
}
