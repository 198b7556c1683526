import { elapsedMs, type FaultProxy, lowest, until } from '@enterprise-api/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type ProxiedApi, startProxiedApi } from '../testing/proxied-api.ts';
import type { TestApi } from '../testing/test-api.ts';

let proxied: ProxiedApi;
let api: TestApi;
let proxy: FaultProxy;
beforeAll(async () => {
  proxied = await startProxiedApi();
  ({ api, proxy } = proxied);
});
afterAll(() => proxied.stop());
beforeEach(() => proxied.recover());

describe.each(['cut', 'freeze'] as const)('while the database is away (%s)', (outage) => {
  it('reads with cached keys succeed, everything else is 503 within a second, nothing is 401; afterwards everything succeeds', async () => {
    const known = await api.createKey();
    const other = await api.createKey();
    await api.call('get', '/v1/me', known.secret).expect(200);
    proxy[outage]();
    await api.call('get', '/v1/me', known.secret).expect(200);
    const event = { organization_id: known.organization_id, type: 'batch.failed', data: { batch_id: 'b' } };
    for (const call of [
      () => api.call('get', '/v1/webhooks', known.secret),
      () => api.call('post', '/v1/webhooks', known.secret).send({ url: 'https://example.com', events: ['*'] }),
      () => api.call('get', '/v1/me', other.secret),
      () => api.internal('post', '/internal/v1/events').send(event),
      () => api.internal('post', '/internal/v1/organizations').send({ name: 'x', plan: 'pro' }),
    ]) {
      const refused = async () => {
        const answer = await call();
        expect(answer.status).toBe(503);
        expect(answer.body.error).toMatchObject({ type: 'api_error', code: 'service_unavailable' });
        expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
      };
      expect(await lowest(1_000, () => elapsedMs(refused))).toBeLessThan(1_000);
    }
    await api.call('get', '/healthz').expect(200);
    await api.call('get', '/readyz').expect(503);
    proxy.restore();
    await until('keys are looked up again', async () => (await api.call('get', '/v1/me', other.secret)).status === 200);
    await api.internal('post', '/internal/v1/events').send(event).expect(202);
  });
});
