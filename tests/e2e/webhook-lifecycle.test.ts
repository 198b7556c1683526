import { verifyWebhook } from '@enterprise-api/sdk/webhooks';
import type { EventType } from '@enterprise-api/shared/contracts';
import {
  type ApiCustomer,
  createApiCustomer,
  queueBackends,
  type ReceivedRequest,
  type ServiceProcess,
  testEvent,
  until,
} from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openTestStage, type TestStage, uuidOf } from './stage.ts';

describe.each(queueBackends())('a webhook from registration to its end, queued on $name', (backend) => {
  let stage: TestStage;
  let api: ServiceProcess;

  beforeAll(async () => {
    stage = await openTestStage(backend);
    api = await stage.startApi();
    await stage.startWorker({ WEBHOOK_RETRY_SCHEDULE: '300ms,1h' });
  });
  afterAll(() => stage.close());

  const emit = (customer: ApiCustomer, type: EventType, count = 1) =>
    customer.emit(Array.from({ length: count }, () => testEvent(customer.organizationId, { type })));
  const isStatus = (status: string, count: number) => (rows: { status: string }[]) =>
    rows.length === count && rows.every((row) => row.status === status);

  it('receives an event of an internal producer, signed with its secret', async () => {
    const customer = await createApiCustomer(api);
    const receiver = await stage.startReceiver();
    const webhook = await customer.createWebhook(receiver.url('/in'));
    const answer = await emit(customer, 'batch.completed');
    expect(answer.status).toBe(202);
    const [request] = (await receiver.waitFor(1)) as [ReceivedRequest];
    const received = await verifyWebhook({ ...request, rawBody: request.body, secret: webhook.secret });
    expect(received.id).toBe(answer.body.data[0].id);

    const [delivery] = await until('1 succeeded', () => customer.deliveries(), { holds: isStatus('succeeded', 1) });
    const detail = await customer.call('GET', `/v1/webhooks/deliveries/${delivery?.id}`);
    expect(detail.body).toMatchObject({
      id: request.headers['x-service-delivery-id'],
      webhook_id: webhook.id,
      attempt_count: 1,
      attempts: [{ number: 1, superseded: false, trigger: 'scheduled', status_code: 200, url: receiver.url('/in') }],
      request: { body: request.body.toString() },
    });
    expect(detail.body.request.headers).not.toHaveProperty('X-Service-Signature');
  });

  it('gets events by its subscription at the time of each event', async () => {
    const customer = await createApiCustomer(api);
    const receiver = await stage.startReceiver();
    const webhook = await customer.createWebhook(receiver.url(), { events: ['batch.failed'] });
    await customer.call('PUT', `/v1/webhooks/${webhook.id}`, { events: ['consultation.*'] });
    await emit(customer, 'batch.failed');
    await emit(customer, 'consultation.failed');
    const rows = await until('1 succeeded', () => customer.deliveries(), { holds: isStatus('succeeded', 1) });
    expect(rows[0]?.event_type).toBe('consultation.failed');
  });

  it('gets retries at its new URL, and each attempt shows the URL it was sent to', async () => {
    const customer = await createApiCustomer(api);
    const before = await stage.startReceiver({ respond: () => ({ status: 500 }) });
    const after = await stage.startReceiver();
    const webhook = await customer.createWebhook(before.url('/old'));
    await emit(customer, 'batch.failed');
    await before.waitFor(1);
    await customer.call('PATCH', `/v1/webhooks/${webhook.id}`, { url: after.url('/new') });
    const [delivery] = await until('1 succeeded', () => customer.deliveries(), { holds: isStatus('succeeded', 1) });
    const { body } = await customer.call('GET', `/v1/webhooks/deliveries/${delivery?.id}`);
    expect(body.attempts.map((attempt: { url: string }) => attempt.url)).toEqual([
      after.url('/new'),
      before.url('/old'),
    ]);
  });

  it('gets nothing while it is disabled, and its pending deliveries are canceled', async () => {
    const customer = await createApiCustomer(api);
    const receiver = await stage.startReceiver({ respond: () => ({ status: 500 }) });
    const webhook = await customer.createWebhook(receiver.url());
    await emit(customer, 'batch.failed', 3);
    // The first retry has been made, the next is an hour away.
    await until('two attempts of each', () => customer.deliveries(), {
      holds: (rows) => rows.length === 3 && rows.every((row) => row.attempt_count === 2),
    });
    const disabled = await customer.call('PUT', `/v1/webhooks/${webhook.id}`, { enabled: false });
    expect(disabled.body).toMatchObject({ enabled: false, disabled_reason: 'manual' });
    await until('3 canceled', () => customer.deliveries(), { holds: isStatus('canceled', 3) });
    await emit(customer, 'batch.failed');
    // Events are matched when they are fanned out: this one while the webhook is disabled.
    await until('an empty outbox', () => stage.db.selectFrom('outbox').select('event_id').execute(), {
      holds: (rows) => rows.length === 0,
    });
    const enabled = await customer.call('PUT', `/v1/webhooks/${webhook.id}`, { enabled: true });
    expect(enabled.body).toMatchObject({ enabled: true, disabled_reason: null, failing_since: null });
    receiver.respond(() => ({}));
    await emit(customer, 'batch.completed');
    await until('a success', () => customer.deliveries('&status=succeeded'), { holds: (rows) => rows.length >= 1 });
    expect(receiver.requests.at(-1)?.headers['x-service-event']).toBe('batch.completed');
  });

  it('gets no request after its deletion, and its history stays readable', async () => {
    const customer = await createApiCustomer(api);
    const gate = Promise.withResolvers<void>();
    const receiver = await stage.startReceiver({
      respond: async (request) => {
        if (request.order < 2) await gate.promise;
        return { status: request.order === 0 ? 200 : 500 };
      },
    });
    const webhook = await customer.createWebhook(receiver.url());
    await emit(customer, 'batch.failed', 2);
    await receiver.waitFor(2);
    expect((await customer.call('DELETE', `/v1/webhooks/${webhook.id}`)).status).toBe(204);
    expect((await customer.call('DELETE', `/v1/webhooks/${webhook.id}`)).status).toBe(404);
    gate.resolve();
    // Succeeded deliveries stay so; the pending one is canceled, and not sent again.
    const rows = await stage.untilDeliveries(
      uuidOf('org', customer.organizationId),
      (found) =>
        found
          .map((row) => row.status)
          .sort()
          .join() === 'canceled,succeeded',
    );
    expect(rows).toHaveLength(2);
    await emit(customer, 'batch.failed');
    expect((await customer.deliveries()).map((row) => row.status).sort()).toEqual(['canceled', 'succeeded']);
    expect(receiver.requests).toHaveLength(2);
  });

  it('gets one delivery for an event that is posted a hundred times with the same id', async () => {
    const customer = await createApiCustomer(api);
    const receiver = await stage.startReceiver();
    await customer.createWebhook(receiver.url());
    const event = {
      organization_id: customer.organizationId,
      type: 'batch.failed',
      data: { batch_id: 'b' },
      id: 'once',
    };
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => customer.internal('POST', '/internal/v1/events', event)),
    );
    const ids = new Set(answers.map((answer) => answer.body.data[0].id));
    expect(ids.size).toBe(1);
    expect(answers.filter((answer) => !answer.body.data[0].duplicate)).toHaveLength(1);
    await until('1 succeeded', () => customer.deliveries(), { holds: isStatus('succeeded', 1) });
    expect(receiver.requests).toHaveLength(1);
  });
});
