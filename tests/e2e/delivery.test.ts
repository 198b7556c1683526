import { createHmac } from 'node:crypto';
import { toPublicId } from '@enterprise-api/shared/runtime';
import {
  createCertificateAuthority,
  insertOrganization,
  insertWebhook,
  queueBackends,
  type ReceivedRequest,
  readMetric,
  type ServiceProcess,
  testEvent,
  testWebhookSecret,
  until,
} from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { openTestStage, type TestStage } from './stage.ts';

describe.each(queueBackends())('a delivery, queued on $name', (backend) => {
  let stage: TestStage;
  let worker: ServiceProcess;

  beforeAll(async () => {
    stage = await openTestStage(backend);
    worker = await stage.startWorker();
  });
  afterAll(() => stage.close());

  const emit = async (organizationId: string, values?: Parameters<typeof testEvent>[1]) => {
    const [event] = await stage.producer.emit([testEvent(organizationId, values)]);
    if (!event) throw new Error('not written');
    return event.id;
  };
  const requestsFor = (eventId: string) => (requests: ReceivedRequest[]) =>
    requests.filter((request) => headerOf(request, 'webhook-id') === toPublicId('evt', eventId));

  it('arrives signed, with the documented headers and body', async () => {
    const { organizationId, webhookId } = await stage.subscribe();
    const occurredAt = new Date('2026-11-21T07:00:00.000Z');
    const data = { consultation_id: 'con_1', note: 'grüße 🎉' };
    const eventId = await emit(organizationId, { data, occurred_at: occurredAt });
    const all = await stage.receiver.waitFor((requests) => requestsFor(eventId)(requests).length === 1);
    const [request] = requestsFor(eventId)(all) as [ReceivedRequest];

    const evt = toPublicId('evt', eventId);
    expect(request.method).toBe('POST');
    expect(request.body.toString()).toBe(
      JSON.stringify({
        id: evt,
        type: 'consultation.completed',
        timestamp: '2026-11-21T07:00:00.000Z',
        organization_id: toPublicId('org', organizationId),
        data,
      }),
    );
    const [delivery] = await stage.untilDeliveries(organizationId, (rows) => rows[0]?.status === 'succeeded');
    expect(headersOf(request)).toMatchObject({
      'content-type': 'application/json',
      'user-agent': expect.stringMatching(/^enterprise-api-webhooks\/\d+\.\d+\.\d+$/),
      'x-service-event': 'consultation.completed',
      'x-service-event-id': evt,
      'x-service-delivery-id': toPublicId('dlv', delivery?.id ?? ''),
      'x-service-attempt': '1',
      'webhook-id': evt,
    });
    const hmac = createHmac('sha256', testWebhookSecret).update(request.body).digest('hex');
    expect(headerOf(request, 'x-service-signature')).toBe(hmac);
    expect(new Webhook(testWebhookSecret).verify(request.body.toString(), headersOf(request))).toMatchObject({
      id: evt,
    });
    expect(delivery).toMatchObject({
      webhook_id: webhookId,
      attempt_count: 1,
      last_status_code: 200,
      last_error: null,
    });
  });

  it('needs memory for its body until it is over', async () => {
    const { organizationId } = await stage.subscribe();
    const sent = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<void>();
    stage.receiver.respond(async () => {
      sent.resolve();
      await answered.promise;
      return {};
    });
    await emit(organizationId);
    await sent.promise;
    expect(await readMetric(worker.url, 'webhook_body_bytes')).toBeGreaterThan(100);
    answered.resolve();
    await stage.untilDeliveries(organizationId, (rows) => rows[0]?.status === 'succeeded');
    const bytes = () => readMetric(worker.url, 'webhook_body_bytes');
    await until('no body in memory', bytes, { holds: (left) => left === 0 });
    stage.receiver.respond(() => ({}));
  });

  it('is retried with the same bytes until it succeeds', async () => {
    const receiver = await stage.startReceiver();
    const { organizationId } = await stage.subscribe({ url: receiver.url('/twice') });
    receiver.respond((request) => ({ status: request.order < 2 ? 503 : 200, body: 'busy' }));
    await emit(organizationId);
    const [delivery] = await stage.untilDeliveries(organizationId, (rows) => rows[0]?.status === 'succeeded');
    expect(delivery).toMatchObject({ attempt_count: 3, last_status_code: 200 });
    expect(receiver.requests.map((request) => headerOf(request, 'x-service-attempt'))).toEqual(['1', '2', '3']);
    expect(new Set(receiver.requests.map((request) => request.body.toString('hex'))).size).toBe(1);
    const attempts = await stage.db
      .selectFrom('all_attempts')
      .selectAll()
      .where('delivery_id', '=', delivery?.id ?? '')
      .orderBy('number')
      .execute();
    expect(attempts.map((attempt) => [attempt.status_code, attempt.error, attempt.excerpt])).toEqual([
      [503, 'http_error', 'busy'],
      [503, 'http_error', 'busy'],
      [200, null, 'busy'],
    ]);
    // Never early: 200 ms and 400 ms lie between the attempts.
    const gaps = attempts
      .slice(1)
      .map((attempt, index) => Number(attempt.started_at) - Number(attempts[index]?.started_at));
    expect(gaps[0]).toBeGreaterThanOrEqual(200);
    expect(gaps[1]).toBeGreaterThanOrEqual(400);
  });

  it('fails when the retry schedule is used up', async () => {
    const receiver = await stage.startReceiver({ respond: () => ({ status: 500 }) });
    const { organizationId } = await stage.subscribe({ url: receiver.url() });
    await emit(organizationId);
    const [delivery] = await stage.untilDeliveries(organizationId, (rows) => rows[0]?.status === 'failed');
    expect(delivery).toMatchObject({
      attempt_count: 4,
      max_attempts: 4,
      next_attempt_at: null,
      last_error: 'http_error',
    });
    expect(receiver.requests).toHaveLength(4);
  });

  it.each([
    ['a receiver that never answers', 'timeout', () => 'hang' as const],
    ['a redirect', 'redirect', () => ({ status: 302, headers: { location: 'https://localhost:1/' } })],
    ['a connection cut before the answer', 'connection_reset', () => 'reset' as const],
  ])('is recorded as failed after %s', async (_name, error, respond) => {
    const receiver = await stage.startReceiver({ respond });
    const { organizationId } = await stage.subscribe({ url: receiver.url() });
    await emit(organizationId);
    const [delivery] = await stage.untilDeliveries(organizationId, (rows) => (rows[0]?.attempt_count ?? 0) > 0);
    expect(delivery).toMatchObject({ last_error: error });
  });

  it('is not sent to a receiver with a certificate of an unknown authority', async () => {
    const stranger = await createCertificateAuthority('Stranger');
    const receiver = await stage.startReceiver({ certificate: await stranger.issue({ hosts: ['localhost'] }) });
    const { organizationId } = await stage.subscribe({ url: receiver.url() });
    await emit(organizationId);
    const [delivery] = await stage.untilDeliveries(organizationId, (rows) => (rows[0]?.attempt_count ?? 0) > 0);
    expect(delivery).toMatchObject({ last_error: 'tls_failed', last_status_code: null });
    expect(receiver.requests).toEqual([]);
  });

  it('goes to every webhook whose events match, by name, family or all, and to no other', async () => {
    const organizationId = await insertOrganization(stage.db);
    const patterns = [
      ['*'],
      ['batch.*'],
      ['batch.failed', 'consultation.failed'],
      ['consultation.*'],
      ['batch.completed'],
    ];
    for (const [index, events] of patterns.entries()) {
      await stage.subscribe({ organizationId, events, url: stage.receiver.url(`/match/${index}`) });
    }
    const eventId = await emit(organizationId, { type: 'batch.failed' });
    await stage.untilDeliveries(
      organizationId,
      (rows) => rows.length === 3 && rows.every((row) => row.status === 'succeeded'),
    );
    const paths = requestsFor(eventId)(stage.receiver.requests).map((request) => request.path);
    expect(paths.sort()).toEqual(['/match/0', '/match/1', '/match/2']);
  });

  it('disables a webhook that answers 410, and tells another webhook, signed like any event', async () => {
    const receiver = await stage.startReceiver({ respond: () => ({ status: 410 }) });
    const { organizationId, webhookId } = await stage.subscribe({
      url: receiver.url(),
      events: ['*', 'webhook.disabled'],
    });
    const alerts = await stage.startReceiver();
    await insertWebhook(stage.db, { organizationId, url: alerts.url(), events: ['webhook.disabled'] });
    await emit(organizationId);
    const [delivery] = await stage.untilDeliveries(organizationId, (rows) => rows[0]?.status === 'failed');
    expect(delivery).toMatchObject({ attempt_count: 1, last_status_code: 410 });
    // Disabled in a transaction of its own, after the outcome: that delivery is failed, not canceled.
    const state = () =>
      stage.db.selectFrom('webhooks').select(['state', 'disabled_reason']).where('id', '=', webhookId).execute();
    const [webhook] = await until('the webhook is disabled', state, { holds: ([row]) => row?.state === 'disabled' });
    expect(webhook?.disabled_reason).toBe('gone');
    const [told] = await alerts.waitFor(1);
    const body = told?.body.toString() ?? '';
    expect(new Webhook(testWebhookSecret).verify(body, headersOf(told as ReceivedRequest))).toMatchObject({
      type: 'webhook.disabled',
      data: { cause: 'gone', webhook: { id: toPublicId('whk', webhookId) } },
    });
    expect(receiver.requests).toHaveLength(1);
  });

  it('is not retried before its Retry-After', async () => {
    const receiver = await stage.startReceiver({
      respond: (request) => (request.order === 0 ? { status: 429, headers: { 'retry-after': '2' } } : {}),
    });
    const { organizationId } = await stage.subscribe({ url: receiver.url() });
    await emit(organizationId);
    const [first, second] = await receiver.waitFor(2);
    expect(Number(second?.receivedAt) - Number(first?.receivedAt)).toBeGreaterThanOrEqual(1_990);
  });
});

function headersOf(request: ReceivedRequest): Record<string, string> {
  return Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [name.toLowerCase(), String(value)]),
  );
}

function headerOf(request: ReceivedRequest, name: string): string | undefined {
  return headersOf(request)[name];
}
