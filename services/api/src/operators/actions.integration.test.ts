import { fromPublicId, newUuid, toPublicId } from '@enterprise-api/shared/runtime';
import { describe, expect, it } from '@jest/globals';
import type { TestApi } from '../testing/test-api.ts';
import { withWebhook } from '../testing/webhook-frame.ts';

let api: TestApi;
let key: string;
let organizationId: string;
let webhookId: string;
const { insert, rowOf, moveInside, disable, remove } = withWebhook((customer) => {
  ({ api, key, organizationId, webhookId } = customer);
});

/** A request of an operator, on behalf of somebody on call. */
const ask = (method: 'patch' | 'post', path: string) =>
  api.internal(method, `/internal/v1/${path}`).set('X-Actor', 'on-call');
const unknown = { whk: toPublicId('whk', newUuid()), dlv: toPublicId('dlv', newUuid()) };

/** The newest entry of the audit log about an object. */
async function lastEntryOf(kind: 'whk' | 'dlv', id: string) {
  return api.db
    .selectFrom('audit_log')
    .select(['action', 'actor', 'on_behalf_of', 'organization_id'])
    .where('object_id', '=', fromPublicId(kind, id) as string)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
}

describe('PATCH /internal/v1/webhooks/{id}', () => {
  const set = (enabled: unknown, id = webhookId) => ask('patch', `webhooks/${id}`).send({ enabled });

  it('200 disables, which cancels what is pending, and enables again', async () => {
    const { id } = await insert({ status: 'pending' });
    const { body } = await set(false).expect(200);
    expect(body).toMatchObject({
      organization_id: organizationId,
      webhook: { id: webhookId, enabled: false, disabled_reason: 'manual' },
    });
    expect((await rowOf(id)).status).toBe('canceled');
    await set(true).expect(200);
    const { body: shown } = await api.call('get', `/v1/webhooks/${webhookId}`, key).expect(200);
    expect(shown).toMatchObject({ enabled: true, disabled_reason: null });
    expect((await rowOf(id)).status).toBe('canceled');
  });

  it('200, and the answer is what a reading of it shows', async () => {
    const { body } = await set(true).expect(200);
    expect((await api.internal('get', `/internal/v1/webhooks/${webhookId}`).expect(200)).body).toEqual(body);
  });

  it('200, and the audit log has who asked for it', async () => {
    await set(false).expect(200);
    const organization_id = fromPublicId('org', organizationId);
    const expected = { action: 'webhook.updated', actor: 'internal', on_behalf_of: 'on-call', organization_id };
    expect(await lastEntryOf('whk', webhookId)).toEqual(expected);
  });

  it('400 for anything but `enabled`, and nothing changes', async () => {
    await set('no').expect(400);
    const url = 'https://elsewhere.example.com/';
    await ask('patch', `webhooks/${webhookId}`).send({ enabled: false, url }).expect(400);
    await ask('patch', `webhooks/${webhookId}`).send({}).expect(400);
    expect((await api.call('get', `/v1/webhooks/${webhookId}`, key)).body.enabled).toBe(true);
  });

  it('404 for an unknown, a malformed and a deleted one', async () => {
    await set(true, unknown.whk).expect(404);
    await set(true, 'nonsense').expect(404);
    await remove();
    await set(true).expect(404);
  });
});

describe('POST /internal/v1/webhooks/{id}/replay', () => {
  const since = '2020-01-01T00:00:00Z';
  const replay = (body: object = { since }, id = webhookId) => ask('post', `webhooks/${id}/replay`).send(body);

  it('202 with how many of the failed and canceled deliveries are sent again', async () => {
    const failed = await insert({ status: 'failed' });
    const canceled = await insert({ status: 'canceled' });
    const succeeded = await insert({ status: 'succeeded' });
    expect((await replay().expect(202)).body).toMatchObject({ object: 'replay', matched: 2, has_more: false });
    const states = await Promise.all([failed, canceled, succeeded].map(async ({ id }) => (await rowOf(id)).status));
    expect(states).toEqual(['pending', 'pending', 'succeeded']);
    expect(await lastEntryOf('whk', webhookId)).toMatchObject({ action: 'webhook.replayed', on_behalf_of: 'on-call' });
  });

  it('202 with the same answer for the same Idempotency-Key; 422 for the key with another period', async () => {
    await insert({ status: 'failed' });
    const once = (body = { since }) => replay(body).set('Idempotency-Key', 'replay-1');
    const answers = [await once().expect(202), await once().expect(202)];
    expect(answers.map(({ body }) => body.matched)).toEqual([1, 1]);
    await once({ since: '2020-01-02T00:00:00Z' }).expect(422);
  });

  it('400 without a time to begin at, and where its URL is no longer allowed', async () => {
    await replay({}).expect(400);
    await moveInside();
    expect((await replay().expect(400)).body.error.code).toBe('url_not_allowed');
  });

  it('404 for an unknown and for a deleted webhook', async () => {
    await replay({ since }, unknown.whk).expect(404);
    await remove();
    await replay().expect(404);
  });

  it('409 while it is disabled, and nothing is sent again', async () => {
    const { id } = await insert({ status: 'failed' });
    await disable();
    expect((await replay().expect(409)).body.error.message).toContain('not enabled');
    expect((await rowOf(id)).status).toBe('failed');
  });
});

describe('POST /internal/v1/deliveries/{id}/retry', () => {
  const retry = (id: string) => ask('post', `deliveries/${id}/retry`);

  it.each(['failed', 'canceled', 'succeeded'] as const)(
    '202 for a %s delivery: due now, with a whole schedule, as its organization sees it',
    async (status) => {
      const { id } = await insert({ status, attempt_count: 10 });
      const { body } = await retry(id).expect(202);
      expect(body).toMatchObject({
        id,
        status: 'pending',
        attempt_count: 10,
        max_attempts: 20,
        waiting_for: 'capacity',
      });
      expect(await rowOf(id)).toMatchObject({ round: 1, manual: true });
      const organization_id = fromPublicId('org', organizationId);
      const expected = { action: 'delivery.retried', actor: 'internal', on_behalf_of: 'on-call', organization_id };
      expect(await lastEntryOf('dlv', id)).toEqual(expected);
    },
  );

  it('202 once for the same Idempotency-Key', async () => {
    const { id } = await insert({ status: 'failed' });
    const once = (of: string) => retry(of).set('Idempotency-Key', 'retry-1');
    expect((await once(id).expect(202)).body).toEqual((await once(id).expect(202)).body);
    expect((await rowOf(id)).round).toBe(1);
    await once(unknown.dlv).expect(404);
  });

  it('202, and the stored answer names the organization, whose closing removes it', async () => {
    const { id } = await insert({ status: 'failed' });
    await retry(id).set('Idempotency-Key', 'retry-2').expect(202);
    const stored = await api.db.selectFrom('idempotency_keys').select('about_organization_id').execute();
    expect(stored).toContainEqual({ about_organization_id: fromPublicId('org', organizationId) });
  });

  it('400 when the URL of its webhook is no longer allowed', async () => {
    const { id } = await insert({ status: 'failed' });
    await moveInside();
    expect((await retry(id).expect(400)).body.error.code).toBe('url_not_allowed');
  });

  it('404 for an unknown and a malformed id', async () => {
    await retry(unknown.dlv).expect(404);
    await retry('nonsense').expect(404);
  });

  it('409 for a pending delivery, which does not change, and nothing is in the audit log', async () => {
    const { id } = await insert({ status: 'pending' });
    expect((await retry(id).expect(409)).body.error.message).toContain('is pending');
    expect((await rowOf(id)).round).toBe(0);
    expect(await lastEntryOf('dlv', id)).toBeUndefined();
  });

  it.each([
    ['disabled', disable],
    ['deleted', remove],
  ])('409 when its webhook is %s', async (_state, end) => {
    const { id } = await insert({ status: 'failed' });
    await end();
    expect((await retry(id).expect(409)).body.error.message).toContain('not enabled');
    expect((await rowOf(id)).status).toBe('failed');
  });
});
