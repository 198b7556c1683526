import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApi, type TestApi } from '../testing/test-api.ts';

const paths = ['/v1/webhooks/delivery-policy', '/v1/webhooks/source-addresses'] as const;
const [policyPath, addressesPath] = paths;

/** Asks an API with these settings. */
async function withApi(environment: Record<string, string>, ask: (api: TestApi, key: string) => Promise<void>) {
  const api = await startTestApi({ environment });
  try {
    await ask(api, (await api.createKey()).secret);
  } finally {
    await api.stop();
  }
}

describe('with the default settings', () => {
  let api: TestApi;
  let key: string;
  beforeAll(async () => {
    api = await startTestApi();
    key = (await api.createKey()).secret;
  });
  afterAll(() => api.stop());

  it('200 with the policy', async () => {
    expect((await api.call('get', policyPath, key).expect(200)).body).toEqual({
      object: 'delivery_policy',
      timeout_ms: 15_000,
      schedule_ms: [5_000, 60_000, 300_000, 1_800_000, 7_200_000, 18_000_000, 36_000_000, 72_000_000, 86_400_000],
      jitter: 0.2,
      max_attempts: 10,
      disable_after_ms: 432_000_000,
      disable_after_attempts: 20,
      body_retention_seconds: 2_592_000,
      history_retention_seconds: 7_776_000,
    });
  });

  it('200 with null for unknown source addresses', async () => {
    const { body } = await api.call('get', addressesPath, key).expect(200);
    expect(body).toEqual({ object: 'source_addresses', addresses: null });
  });

  it.each(paths)('%s: 403 without webhooks:read, and 404 with an id in its place', async (path) => {
    const { secret } = await api.createKey({ scopes: ['webhooks:write'] });
    const { error } = (await api.call('get', path, secret).expect(403)).body;
    expect(error).toMatchObject({ code: 'forbidden_scope', required_scope: 'webhooks:read' });
    await api.call('get', '/v1/webhooks/delivery_policy', key).expect(404);
  });
});

it('200 with what the operator has set', async () => {
  const environment = {
    WEBHOOK_TIMEOUT_MS: '5000',
    WEBHOOK_RETRY_SCHEDULE: '1s,2m',
    WEBHOOK_RETRY_JITTER: '0',
    RETENTION_BODIES: '48h',
    RETENTION_HISTORY: '0',
    WEBHOOK_SOURCE_ADDRESSES: '203.0.113.7, 198.51.100.7/28,2001:DB8::/32',
  };
  await withApi(environment, async (api, key) => {
    expect((await api.call('get', policyPath, key).expect(200)).body).toMatchObject({
      timeout_ms: 5_000,
      schedule_ms: [1_000, 120_000],
      jitter: 0,
      max_attempts: 3,
      body_retention_seconds: 172_800,
      history_retention_seconds: null,
    });
    const { body } = await api.call('get', addressesPath, key).expect(200);
    expect(body.addresses).toEqual(['203.0.113.7', '198.51.100.0/28', '2001:db8::/32']);
  });
});
