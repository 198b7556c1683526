import { randomBytes } from 'node:crypto';
import { systemClock } from '@enterprise-api/shared/runtime';
import { until } from '@enterprise-api/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createRemoteJWKSet, type JWTPayload, jwtVerify } from 'jose';
import { answers, ok, type RawUpstream, startRawUpstream } from '../testing/raw-upstream.ts';
import { startTestApi, type TestApi } from '../testing/test-api.ts';

const tenMinutes = 600_000;

let upstream: RawUpstream;
let api: TestApi;
let keys: ReturnType<typeof createRemoteJWKSet>;
beforeAll(async () => {
  upstream = await startRawUpstream(answers(ok()));
  api = await startTestApi({
    clock: { ...systemClock, now: () => Date.now() - tenMinutes },
    environment: {
      API_UPSTREAMS: `batches=${upstream.url},panels=${upstream.url}`,
      IDENTITY_SIGNING_KEYS: `test:${randomBytes(32).toString('base64')}`,
    },
  });
  keys = createRemoteJWKSet(new URL('/internal/v1/jwks.json', api.internalUrl));
});
afterAll(async () => {
  await api.stop();
  await upstream.close();
});

let key: Awaited<ReturnType<TestApi['createKey']>>;
beforeEach(async () => {
  key = await api.createKey();
});

/** The claims of the token that the upstream gets with a request to this area. */
async function claimsOf(area: 'batches' | 'panels'): Promise<JWTPayload> {
  await api.call('get', `/v1/${area}`, key.secret).expect(200);
  const token = [...upstream.received().matchAll(/^X-Identity-Token: (.*)\r$/gm)].at(-1)?.[1] ?? '';
  return (await jwtVerify(token, keys, { issuer: 'enterprise-api', audience: area, algorithms: ['EdDSA'] })).payload;
}

describe('the token of a request that is passed on', () => {
  it("is in force on a process whose clock is ten minutes late, because its times are the database's", async () => {
    const { iat = 0, sub, org } = await claimsOf('batches');
    expect(Math.abs(iat * 1_000 - Date.now())).toBeLessThan(tenMinutes / 2);
    expect([sub, org]).toEqual([key.id, key.organization_id]);
  });

  it('is for the area of the request alone', async () => {
    expect([(await claimsOf('batches')).aud, (await claimsOf('panels')).aud]).toEqual(['batches', 'panels']);
  });

  it('tells a change of the scopes and of the plan as soon as the change is in force', async () => {
    expect(await claimsOf('batches')).toMatchObject({ scopes: ['*'], plan: 'enterprise' });
    const scopes = ['batches:read', 'panels:read'];
    const sameScopes = (claims: JWTPayload) => JSON.stringify(claims.scopes) === JSON.stringify(scopes);
    await api.internal('patch', `/internal/v1/keys/${key.id}`).send({ scopes }).expect(200);
    await until('the new scopes', () => claimsOf('batches'), { holds: sameScopes });
    await api.internal('patch', `/internal/v1/organizations/${key.organization_id}`).send({ plan: 'pro' }).expect(200);
    await until('the new plan', () => claimsOf('batches'), { holds: (claims) => claims.plan === 'pro' });
  });
});
