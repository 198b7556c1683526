import { randomBytes } from 'node:crypto';
import { newUuid, systemClock } from '@enterprise-api/shared/runtime';
import { createTestDatabase, freePort, sendRequest, type TestDatabase } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createRemoteJWKSet, decodeProtectedHeader, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { startTestApi, type TestApi, testConfig } from '../testing/test-api.ts';
import { createIdentityTokens } from './identity-tokens.ts';

const oldKey = `2026-10:${randomBytes(32).toString('base64')}`;
const newKey = `2026-11:${randomBytes(32).toString('base64')}`;
const path = '/internal/v1/jwks.json';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

function startWith(keys: string | undefined, port = 0): Promise<TestApi> {
  const environment = { INTERNAL_PORT: String(port), ...(keys !== undefined && { IDENTITY_SIGNING_KEYS: keys }) };
  return startTestApi({ database, environment });
}

/** A new token, made as an API with these settings makes it. */
async function tokenSignedWith(keys: string): Promise<string> {
  const { identitySigningKeys } = testConfig({ DATABASE_URL: database.url, IDENTITY_SIGNING_KEYS: keys });
  const { tokenFor } = createIdentityTokens({ keys: identitySigningKeys, clock: systemClock });
  const key = { id: newUuid(), scopes: ['*' as const], organization: { id: newUuid(), plan: 'pro' as const } };
  return (await tokenFor(key, 'batches')) ?? '';
}

const keysOf = (url: string) => createRemoteJWKSet(new URL(path, url));
const verify = (token: string, keys: JWTVerifyGetKey) =>
  jwtVerify(token, keys, { issuer: 'enterprise-api', audience: 'batches', algorithms: ['EdDSA'] });

describe(`GET ${path}`, () => {
  it('gives the public keys to anybody, without the secret and without a private part', async () => {
    const api = await startWith(`${newKey},${oldKey}`);
    const { status, headers, body } = await sendRequest({
      method: 'GET',
      url: `${api.internalUrl}${path}`,
      headers: {},
    });
    expect([status, headers['content-type']]).toEqual([200, 'application/json; charset=utf-8']);
    const described = { kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA', use: 'sig', x: expect.any(String) };
    expect(body).toEqual({ keys: ['2026-11', '2026-10'].map((kid) => ({ ...described, kid })) });
    await verify(await tokenSignedWith(`${newKey},${oldKey}`), keysOf(api.internalUrl));
    await api.stop();
  });

  it('gives no keys when none are set, and nothing on the public listener', async () => {
    const api = await startWith(undefined);
    const url = (listener: string) => ({ method: 'GET', url: `${listener}${path}`, headers: {} });
    expect((await sendRequest(url(api.internalUrl))).body).toEqual({ keys: [] });
    expect((await sendRequest(url(api.publicUrl))).status).toBe(404);
    await api.stop();
  });
});

describe('changing the signing key', () => {
  /** Whether tokens of a process with these keys are accepted by a service that has read the keys of another. */
  async function isAccepted(signing: string, published: string): Promise<boolean> {
    const api = await startWith(published);
    const verified = verify(await tokenSignedWith(signing), keysOf(api.internalUrl));
    const accepted = await verified.then(
      () => true,
      (error) => {
        expect(error.code).toBe('ERR_JWKS_NO_MATCHING_KEY');
        return false;
      },
    );
    await api.stop();
    return accepted;
  }

  const before = oldKey;
  const announced = `${oldKey},${newKey}`;
  const switched = `${newKey},${oldKey}`;

  it('refuses no request at any step: tokens of a process before and after it are accepted by the keys of either', async () => {
    for (const [earlier, later] of [
      [before, announced],
      [announced, switched],
    ] as const) {
      expect([await isAccepted(earlier, later), await isAccepted(later, earlier)]).toEqual([true, true]);
    }
    // The old key is removed once no process signs with it any more and its last token has expired.
    expect([await isAccepted(switched, newKey), await isAccepted(newKey, switched)]).toEqual([true, true]);
  });

  it('refuses requests when the new key signs before it was published, which is why there is a step for that', async () => {
    expect(await isAccepted(switched, before)).toBe(false);
    expect(await isAccepted(before, newKey)).toBe(false);
  });

  it('needs no restart of a service that verifies: it reads the keys again for a token with a key it does not know', async () => {
    const port = await freePort();
    const apiBefore = await startWith(before, port);
    const keys = createRemoteJWKSet(new URL(path, apiBefore.internalUrl), { cooldownDuration: 0 });
    expect(decodeProtectedHeader(await tokenSignedWith(before)).kid).toBe('2026-10');
    await verify(await tokenSignedWith(before), keys);
    await apiBefore.stop();
    const apiAfter = await startWith(switched, port);
    await verify(await tokenSignedWith(switched), keys);
    await apiAfter.stop();
  });
});
