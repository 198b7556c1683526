import { fromPublicId, type Uuid } from '@enterprise-api/shared/runtime';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { recordAttempts } from '../testing/recorded-attempts.ts';
import { insertAttempt, insertDelivery } from '../testing/rows.ts';
import { type TestApi, withCustomer } from '../testing/test-api.ts';

let api: TestApi;
let organizationId: string;
let webhookId: string;
let key: string;

withCustomer((customer) => {
  ({ api, organizationId, key } = customer);
});
beforeEach(async () => {
  webhookId = (await api.createWebhook(key, { description: 'of a customer' })).id;
});

describe('GET /internal/v1/webhooks/{id}', () => {
  const read = async () => (await api.internal('get', `/internal/v1/webhooks/${webhookId}`).expect(200)).body;

  it('200 with its organization and its health, and never its secret', async () => {
    expect(await read()).toEqual({
      organization_id: organizationId,
      webhook: (await api.call('get', `/v1/webhooks/${webhookId}`, key).expect(200)).body,
      sending_paused: false,
      health: { consecutive_failures: 0, failed_attempts: 0, openings: 0, open_until: null },
    });
    await sql`insert into webhook_health (webhook_id, consecutive_failures, failed_attempts, openings, open_until)
      values (${fromPublicId('whk', webhookId)}, 5, 6, 1, '2026-11-21T07:00:00Z')`.execute(api.db);
    const { health } = await read();
    expect(health).toEqual({
      consecutive_failures: 5,
      failed_attempts: 6,
      openings: 1,
      open_until: '2026-11-21T07:00:00.000Z',
    });
  });

  it.each([['everybody'], ['its organization']])('200 with the pause of %s', async (whose) => {
    const given = whose === 'everybody' ? {} : { organization_id: organizationId };
    await api
      .internal('post', '/internal/v1/sending')
      .send({ paused: true, ...given })
      .expect(200);
    expect((await read()).sending_paused).toBe(true);
    await api
      .internal('post', '/internal/v1/sending')
      .send({ paused: false, ...given })
      .expect(200);
    expect((await read()).sending_paused).toBe(false);
  });

  it('404 for an unknown, a malformed and a deleted one', async () => {
    await api.internal('get', '/internal/v1/webhooks/whk_01jd6kz5r8e2v9qxm3c7t4b0na').expect(404);
    await api.internal('get', '/internal/v1/webhooks/nonsense').expect(404);
    await api.call('delete', `/v1/webhooks/${webhookId}`, key).expect(204);
    await api.internal('get', `/internal/v1/webhooks/${webhookId}`).expect(404);
  });
});

describe('GET /internal/v1/webhooks/{id}/health', () => {
  const read = (id: string) => api.internal('get', `/internal/v1/webhooks/${id}/health`);

  it('200 with what its owner sees: why attempts fail, and what the oldest delivery waits for', async () => {
    await insertDelivery(api.db, { organizationId, webhookId });
    const failed = { webhookId: fromPublicId('whk', webhookId) as Uuid, at: new Date(), durationMs: 5 };
    await recordAttempts(api.db, [{ ...failed, error: 'http_error', statusCode: 500 }]);
    const { body } = await read(webhookId).expect(200);
    expect(body).toMatchObject({ pending: 1, oldest_waiting_for: expect.any(String) });
    expect(body.causes).toMatchObject([{ error: 'http_error', status_code: 500, count: 1 }]);
    expect(body).toEqual((await api.call('get', `/v1/webhooks/${webhookId}/health`, key).expect(200)).body);
  });

  it('404 for an unknown and a malformed one', async () => {
    await read('whk_01jd6kz5r8e2v9qxm3c7t4b0na').expect(404);
    await read('nonsense').expect(404);
  });
});

describe('GET /internal/v1/deliveries/{id}', () => {
  it('200 with its organization and its attempts, without what the event says', async () => {
    const { id } = await insertDelivery(api.db, { organizationId, webhookId }, { status: 'failed', attempt_count: 1 });
    await insertAttempt(api.db, id, { number: 1, webhook_version: 1 });
    const {
      request: _,
      attempts,
      ...delivery
    } = (await api.call('get', `/v1/webhooks/deliveries/${id}`, key).expect(200)).body;
    await api
      .internal('get', `/internal/v1/deliveries/${id}`)
      .expect(200, { organization_id: organizationId, delivery, attempts });
    expect(attempts).toHaveLength(1);
  });

  it('404 for an unknown and a malformed one, without an entry in the audit log', async () => {
    const read = async () =>
      (await api.internal('get', '/internal/v1/audit?action=event.read&limit=100')).body.data.length;
    const before = await read();
    await api.internal('get', '/internal/v1/deliveries/dlv_01jd6kz5r8e2v9qxm3c7t4b0na').expect(404);
    expect(await read()).toBe(before);
    await api.internal('get', '/internal/v1/deliveries/dlv_01jd6kz5r8e2v9qxm3c7t4b0na').expect(404);
    await api.internal('get', '/internal/v1/deliveries/nonsense').expect(404);
  });
});
