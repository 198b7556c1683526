import { eventTypes, subscribableEventTypeNames } from '@enterprise-api/shared/contracts';
import { fromPublicId, newUuid, toPublicId, uuidTimeMs } from '@enterprise-api/shared/runtime';
import { describe, expect, it } from '@jest/globals';
import { insertAttempt } from '../testing/rows.ts';
import type { TestApi } from '../testing/test-api.ts';
import { withWebhook } from '../testing/webhook-frame.ts';

let api: TestApi;
let key: string;
let organizationId: string;
let webhookId: string;
const { insert, rowOf, update, moveInside, disable, remove } = withWebhook((customer) => {
  ({ api, key, organizationId, webhookId } = customer);
});

/** As a worker records the attempt that delivers. */
const deliver = async (deliveryId: string, number: number, attemptId = newUuid()) => {
  const timings = { dns_ms: 1, connect_ms: 2, tls_ms: 3, first_byte_ms: 4 };
  const delivered = { delivered_by: attemptId, delivered_version: 1, excerpt: 'ok', ...timings };
  const last = { last_status_code: 200, last_duration_ms: 12, completed_at: new Date() };
  const state = { status: 'succeeded', attempt_count: number };
  await update(deliveryId, { ...state, ...last, ...delivered });
  return attemptId;
};

describe('POST /v1/webhooks/{id}/test', () => {
  const test = () => api.call('post', `/v1/webhooks/${webhookId}/test`, key);

  it('202 with a delivery of a webhook.test event to this webhook alone, due now, once', async () => {
    await api.createWebhook(key, { events: ['*'] });
    const { body } = await test().expect(202);
    expect(body).toEqual({
      id: expect.stringMatching(/^dlv_/),
      object: 'delivery',
      webhook_id: webhookId,
      event_id: expect.stringMatching(/^evt_/),
      event_type: 'webhook.test',
      subject: null,
      status: 'pending',
      canceled_reason: null,
      attempt_count: 0,
      max_attempts: 1,
      next_attempt_at: expect.any(String),
      waiting_for: 'capacity',
      last_status_code: null,
      last_error: null,
      last_duration_ms: null,
      test: true,
      created_at: expect.any(String),
      completed_at: null,
    });
    expect(await rowOf(body.id)).toMatchObject({ manual: true, lease_count: 0, round: 0 });
    const event = fromPublicId('evt', body.event_id) as string;
    expect(await api.db.selectFrom('outbox').select('event_id').where('event_id', '=', event).execute()).toEqual([]);
  });

  it('202 with a note for a shorter retention, which may begin later', async () => {
    const { body } = await test().expect(202);
    const noted = await api.db.selectFrom('bodies_to_remove').select('event_id').execute();
    expect(noted).toContainEqual({ event_id: fromPublicId('evt', body.event_id) });
  });

  it('202 with the body that will be sent, and the request id kept with the event', async () => {
    const answer = await test().set('X-Request-Id', 'test.1').expect(202);
    const detail = await api.call('get', `/v1/webhooks/deliveries/${answer.body.id}`, key).expect(200);
    expect(JSON.parse(detail.body.request.body)).toEqual({
      id: answer.body.event_id,
      type: 'webhook.test',
      timestamp: expect.any(String),
      organization_id: organizationId,
      data: { webhook_id: webhookId, message: expect.any(String) },
      test: true,
    });
    const event = fromPublicId('evt', answer.body.event_id) as string;
    const row = api.db.selectFrom('events').select('request_id').where('id', '=', event);
    expect(await row.executeTakeFirst()).toEqual({ request_id: 'test.1' });
  });

  it.each(subscribableEventTypeNames)(
    '202 with a marked example of %s, whatever the webhook subscribes to',
    async (type) => {
      const { body } = await test().send({ type }).expect(202);
      expect(body).toMatchObject({ event_type: type, test: true, max_attempts: 1 });
      const { request } = (await api.call('get', `/v1/webhooks/deliveries/${body.id}`, key).expect(200)).body;
      expect(request.headers).toMatchObject({ 'X-Service-Event': type, 'X-Service-Test': 'true' });
      const sent = JSON.parse(request.body);
      expect(sent).toMatchObject({ id: body.event_id, type, test: true });
      const { data, example } = eventTypes[type];
      expect(data.safeParse(sent.data).error).toBeUndefined();
      const marked = (name: string, value: unknown) => (/(^|_)id$/.test(name) ? `test_${String(value)}` : value);
      expect(sent.data).toEqual(JSON.parse(JSON.stringify(example), marked));
      for (const path of ['/v1/events', '/v1/events?order=asc', `/v1/events?type=${type}`])
        expect((await api.call('get', path, key).expect(200)).body.data).toEqual([]);
      await api.call('get', `/v1/events/${body.event_id}`, key).expect(404);
      await api.call('get', `/v1/events/stream?after=${body.event_id}`, key).expect(404);
    },
  );

  it('202 for a disabled webhook, and enabling it does not cancel the test', async () => {
    await disable();
    const { body } = await test().expect(202);
    expect((await rowOf(body.id)).status).toBe('pending');
    await api.call('patch', `/v1/webhooks/${webhookId}`, key).send({ enabled: true }).expect(200);
    expect((await rowOf(body.id)).status).toBe('pending');
  });

  it('202 with the same delivery for the same Idempotency-Key', async () => {
    const [first, second] = [
      await test().set('Idempotency-Key', 'k').expect(202),
      await test().set('Idempotency-Key', 'k').expect(202),
    ];
    expect(second.body).toEqual(first.body);
  });

  it.each([{ type: 'invoice.paid' }, { type: 'batch.*' }, { type: '*' }, { type: null }, { event: 'batch.failed' }])(
    '400 for %j',
    async (body) => {
      await test().send({}).expect(202);
      expect((await test().send(body).expect(400)).body.error.code).toBe('validation_failed');
    },
  );

  it('400 when its URL is no longer allowed', async () => {
    await moveInside();
    expect((await test().expect(400)).body.error.code).toBe('url_not_allowed');
  });

  it('202 for a webhook that was registered with a fragment in its URL', async () => {
    await api.db
      .updateTable('webhooks')
      .set({ url: 'https://hooks.example.com/in#part' })
      .where('id', '=', fromPublicId('whk', webhookId) as string)
      .execute();
    await test().expect(202);
  });

  it('404 for a deleted webhook', async () => {
    await remove();
    await test().expect(404);
  });

  it('409 while 100 tests of the webhook are pending', async () => {
    for (let count = 0; count < 100; count++) await insert({ test: true });
    expect((await test().expect(409)).body.error.code).toBe('limit_reached');
    const other = await api.createWebhook(key);
    await api.call('post', `/v1/webhooks/${other.id}/test`, key).expect(202);
  });
});

describe('POST /v1/webhooks/deliveries/{id}/retry', () => {
  const retry = (id: string) => api.call('post', `/v1/webhooks/deliveries/${id}/retry`, key);

  it.each(['failed', 'canceled', 'succeeded'] as const)(
    '202 for a %s delivery: due now, in a new round',
    async (status) => {
      const { id } = await insert({ status, attempt_count: 10 });
      if (status === 'canceled') await update(id, { canceled_reason: 'webhook_disabled' });
      const { body } = await retry(id).expect(202);
      expect(body).toMatchObject({ id, status: 'pending', attempt_count: 10, max_attempts: 20, completed_at: null });
      expect(body.canceled_reason).toBeNull();
      expect(body.waiting_for).toBe('capacity');
      expect(Math.abs(Date.parse(body.next_attempt_at) - Date.now())).toBeLessThan(30_000);
      expect(await rowOf(id)).toMatchObject({ round: 1, manual: true, lease_count: 0 });
    },
  );

  it('202 with a whole retry schedule each time, after any end of the earlier rounds', async () => {
    const { id } = await insert({ status: 'succeeded', attempt_count: 3 });
    expect((await retry(id).expect(202)).body.max_attempts).toBe(13);
    // Its second round succeeds at once; a straggler of the first one comes late.
    for (const number of [1, 2, 3]) await insertAttempt(api.db, id, { number, webhook_version: 1 });
    await insertAttempt(api.db, id, { number: 4, webhook_version: 1, round: 1 });
    await insertAttempt(api.db, id, { number: 9, webhook_version: 1, superseded: true });
    await update(id, { status: 'succeeded', attempt_count: 4, completed_at: new Date() });
    expect((await retry(id).expect(202)).body.max_attempts).toBe(14);
  });

  it('202, and the attempt that delivered stays as it was, also when another one delivers', async () => {
    const { id } = await insert({ status: 'succeeded', attempt_count: 1 });
    const attemptsOf = async () =>
      (await api.call('get', `/v1/webhooks/deliveries/${id}`, key).expect(200)).body.attempts;
    const [firstId, secondId] = [await deliver(id, 1), newUuid()];
    const [first] = await attemptsOf();
    expect(first).toEqual({
      id: toPublicId('att', firstId),
      number: 1,
      superseded: false,
      trigger: 'scheduled',
      started_at: new Date(uuidTimeMs(firstId)).toISOString(),
      duration_ms: 12,
      status_code: 200,
      error: null,
      error_message: null,
      remote_address: null,
      response_headers: null,
      response_body: 'ok',
      url: 'https://hooks.example.com/in',
      timings: { dns_ms: 1, connect_ms: 2, tls_ms: 3, first_byte_ms: 4 },
    });
    await retry(id).expect(202);
    expect(await attemptsOf()).toEqual([first]);
    await deliver(id, 2, secondId);
    expect(await attemptsOf()).toEqual([
      { ...first, id: toPublicId('att', secondId), number: 2, trigger: 'manual', started_at: expect.any(String) },
      first,
    ]);
    await retry(id).expect(202);
    expect((await attemptsOf()).map(({ number }: { number: number }) => number)).toEqual([2, 1]);
  });

  it('202 for exactly one of several retries at once', async () => {
    const { id } = await insert({ status: 'failed' });
    const answers = await Promise.all(Array.from({ length: 5 }, () => retry(id)));
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 409, 409, 409, 409]);
    expect((await rowOf(id)).round).toBe(1);
  });

  it('400 when the URL of its webhook is no longer allowed', async () => {
    const { id } = await insert({ status: 'failed' });
    await moveInside();
    expect((await retry(id).expect(400)).body.error.code).toBe('url_not_allowed');
  });

  it('404 for a delivery of another organization', async () => {
    const { id } = await insert({ status: 'failed' });
    const stranger = await api.createKey();
    await api.call('post', `/v1/webhooks/deliveries/${id}/retry`, stranger.secret).expect(404);
  });

  it('409 for a pending delivery, which does not change', async () => {
    const { id } = await insert({ status: 'pending' });
    const answer = await retry(id).expect(409);
    expect(answer.body.error).toMatchObject({ code: 'conflict', message: expect.stringContaining('is pending') });
    expect((await rowOf(id)).round).toBe(0);
  });

  it('409 when retention has removed its body', async () => {
    const { id, eventId } = await insert({ status: 'failed' });
    await api.db
      .deleteFrom('event_bodies')
      .where('event_id', '=', fromPublicId('evt', eventId) as string)
      .execute();
    const answer = await retry(id).expect(409);
    expect(answer.body.error.message).toContain('no longer stored');
  });

  it('409 when it has reached 1,000 attempts; its newest attempts are shown', async () => {
    const { id } = await insert({ status: 'succeeded', attempt_count: 1_000 });
    for (let number = 1; number <= 101; number++) await insertAttempt(api.db, id, { number, webhook_version: 1 });
    expect((await retry(id).expect(409)).body.error.message).toContain('1,000 attempts');
    const { body } = await api.call('get', `/v1/webhooks/deliveries/${id}`, key).expect(200);
    const numbers = body.attempts.map(({ number }: { number: number }) => number);
    expect([numbers.length, numbers[0], numbers[99]]).toEqual([100, 101, 2]);
  });

  it.each([
    ['disabled', disable],
    ['deleted', remove],
  ])('409 when its webhook is %s', async (_state, end) => {
    const { id } = await insert({ status: 'failed' });
    await end();
    const answer = await retry(id).expect(409);
    expect(answer.body.error.message).toContain('not enabled');
    expect((await rowOf(id)).status).toBe('failed');
  });
});
