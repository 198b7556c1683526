import { verifyWebhook } from '@enterprise-api/sdk/webhooks';
import type { Delivery } from '@enterprise-api/shared/contracts';
import {
  type ApiCustomer,
  createApiCustomer,
  queueBackends,
  type ReceivedRequest,
  type Receiver,
  type ServiceProcess,
  testEvent,
  until,
} from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { openTestStage, type TestStage } from './stage.ts';

describe.each(queueBackends())('redelivery, queued on $name', (backend) => {
  let stage: TestStage;
  let api: ServiceProcess;
  let customer: ApiCustomer;

  beforeAll(async () => {
    stage = await openTestStage(backend);
    api = await stage.startApi();
    // On a busy machine an attempt must not run out of time: it would be made twice.
    await stage.startWorker({ WEBHOOK_RETRY_SCHEDULE: '100ms', WEBHOOK_TIMEOUT_MS: '20000' });
  });
  afterAll(() => stage.close());

  /** A webhook whose receiver answers with this status, until it is told otherwise. */
  const register = async (status: number): Promise<{ id: string; secret: string; receiver: Receiver }> => {
    customer = await createApiCustomer(api);
    const receiver = await stage.startReceiver({ respond: () => ({ status }) });
    const { id, secret } = await customer.createWebhook(receiver.url());
    return { id, secret, receiver };
  };
  const emit = (count = 1) =>
    customer.emit(Array.from({ length: count }, () => testEvent(customer.organizationId, { type: 'batch.failed' })));
  const read = async (id: string) => (await customer.call('GET', `/v1/webhooks/deliveries/${id}`)).body;
  const untilOver = (id: string) =>
    until(`${id} is over`, () => read(id), { holds: (delivery: Delivery) => delivery.status !== 'pending' });
  const countOf = async (status: string) => {
    const rows = stage.db
      .selectFrom('deliveries')
      .select('id')
      .where('status', '=', status as Delivery['status']);
    return (await rows.execute()).length;
  };
  const verify = (secret: string, { headers, body }: ReceivedRequest) =>
    verifyWebhook({ headers, rawBody: body, secret });
  /** As a receiver does that knows X-Service-Signature only. */
  const verifyHex = (secret: string, { headers, body }: ReceivedRequest) =>
    verifyWebhook({ headers: { 'x-service-signature': headers['x-service-signature'] }, rawBody: body, secret });

  it.each(['webhook.test', 'batch.failed'])(
    'a test of %s is sent once to a disabled webhook, and does not change the webhook, also after 410',
    async (type) => {
      const { id, secret, receiver } = await register(410);
      await customer.call('PATCH', `/v1/webhooks/${id}`, { enabled: false });
      const { status, body } = await customer.call('POST', `/v1/webhooks/${id}/test`, { type });
      expect(status).toBe(202);
      const [request] = (await receiver.waitFor(1)) as [ReceivedRequest];
      expect(request.headers).toMatchObject({
        'x-service-event': type,
        'x-service-test': 'true',
        'x-service-delivery-id': body.id,
      });
      expect(new Webhook(secret).verify(String(request.body), request.headers as Record<string, string>)).toMatchObject(
        {
          type,
          test: true,
        },
      );
      expect(await untilOver(body.id)).toMatchObject({ status: 'failed', attempt_count: 1, last_status_code: 410 });
      expect((await read(body.id)).attempts).toMatchObject([{ number: 1, trigger: 'manual' }]);
      const { body: webhook } = await customer.call('GET', `/v1/webhooks/${id}`);
      expect(webhook).toMatchObject({ disabled_reason: 'manual', failing_since: null });
      expect(receiver.requests).toHaveLength(1);
    },
  );

  it('a retry sends the same delivery and body again, with a new schedule', async () => {
    const { receiver } = await register(400);
    await emit();
    const [first] = (await receiver.waitFor(2)) as [ReceivedRequest];
    const deliveryId = String(first.headers['x-service-delivery-id']);
    expect(await untilOver(deliveryId)).toMatchObject({ status: 'failed', attempt_count: 2 });
    const { body } = await customer.call('POST', `/v1/webhooks/deliveries/${deliveryId}/retry`);
    expect(body).toMatchObject({ id: deliveryId, status: 'pending', max_attempts: 4 });
    const again = (await receiver.waitFor(4)).slice(2);
    expect(again.map(({ headers }) => headers['x-service-attempt'])).toEqual(['3', '4']);
    for (const request of again) expect(request.body.equals(first.body)).toBe(true);
    expect(await untilOver(deliveryId)).toMatchObject({ status: 'failed', attempt_count: 4 });
    const triggers = (await read(deliveryId)).attempts.map(({ trigger }: { trigger: string }) => trigger);
    expect(triggers).toEqual(['scheduled', 'manual', 'scheduled', 'scheduled']);

    receiver.respond(() => ({}));
    await customer.call('POST', `/v1/webhooks/deliveries/${deliveryId}/retry`);
    expect(await untilOver(deliveryId)).toMatchObject({ status: 'succeeded', attempt_count: 5, max_attempts: 6 });
  });

  it('a replay of 200 failed deliveries by two overlapping calls sends each once, with its id', async () => {
    const { id, receiver } = await register(400);
    const since = new Date(Date.now() - 60_000).toISOString();
    const before = await countOf('failed');
    await emit(200);
    await until('200 failed', () => countOf('failed'), { holds: (count) => count === before + 200 });
    receiver.respond(() => ({}));
    const failed = new Set(receiver.requests.map(({ headers }) => headers['x-service-delivery-id']));
    const calls = [1, 2].map(() => customer.call('POST', `/v1/webhooks/${id}/replay`, { since }));
    const matched = (await Promise.all(calls)).map(({ body }) => body.matched as number);
    expect(matched.reduce((sum, count) => sum + count, 0)).toBe(200);
    await until('none of them failed', () => countOf('failed'), { holds: (count) => count === before });
    await until('none pending', () => countOf('pending'), { holds: (count) => count === 0 });
    const replayed = receiver.requests.slice(400).map(({ headers }) => headers['x-service-delivery-id']);
    expect(replayed).toHaveLength(200);
    expect(new Set(replayed)).toEqual(failed);
  });

  it('a replay of skipped events keeps its rate and is completed; another is canceled, and rewrites no history', async () => {
    const { id, receiver } = await register(200);
    const since = new Date(Date.now() - 60_000).toISOString();
    const path = `/v1/webhooks/${id}`;
    await customer.call('PATCH', path, { events: ['consultation.*'] });
    await emit(3);
    const fannedOut = () => stage.db.selectFrom('outbox').select('event_id').execute();
    await until('the events are fanned out', fannedOut, { holds: ({ length }) => length === 0 });
    await customer.call('PATCH', path, { events: ['*'] });
    const replay = async (body: object) => (await customer.call('POST', `${path}/replay`, { since, ...body })).body;
    const readReplay = async (replayId: string) =>
      (await customer.call('GET', `/v1/webhooks/replays/${replayId}`)).body;
    const skipped = await replay({ status: ['skipped'], rate_per_second: 2 });
    expect(skipped).toMatchObject({ state: 'running', matched: 3, pending: 3 });
    const completed = await until('it is completed', () => readReplay(skipped.id), {
      holds: ({ state }) => state === 'completed',
      withinMs: 30_000,
    });
    expect(completed).toMatchObject({ pending: 0, succeeded: 3, failed: 0, canceled: 0 });
    const [first, , third] = receiver.requests.map(({ receivedAt }) => receivedAt);
    expect((third ?? 0) - (first ?? 0)).toBeGreaterThan(500);
    const history = async () => (await customer.call('GET', `/v1/webhooks/deliveries?webhook_id=${id}`)).body.data;
    const before = await history();

    const again = await replay({ status: ['succeeded'], rate_per_second: 1 });
    await receiver.waitFor(4);
    const canceled = (await customer.call('POST', `/v1/webhooks/replays/${again.id}/cancel`)).body;
    expect(canceled).toMatchObject({ state: 'canceled', matched: 3, pending: 0, failed: 0 });
    expect(canceled.succeeded + canceled.canceled).toBe(3);
    const after: Delivery[] = await history();
    const unsent = before.filter((old: Delivery) => after.some((now) => now.completed_at === old.completed_at));
    expect(after).toEqual(expect.arrayContaining(unsent));
    expect(after.every(({ status }) => status === 'succeeded')).toBe(true);
  });

  it('a delivery after a rotation is signed with both secrets, until the overlap ends', async () => {
    const { id, secret: old, receiver } = await register(200);
    const { body } = await customer.call('POST', `/v1/webhooks/${id}/rotate-secret`);
    await emit();
    const [request] = (await receiver.waitFor(1)) as [ReceivedRequest];
    for (const secret of [old, body.secret])
      expect(await verify(secret, request)).toMatchObject({ type: 'batch.failed' });
    expect(await verifyHex(old, request)).toMatchObject({ type: 'batch.failed' });
    await expect(verifyHex(body.secret, request)).rejects.toMatchObject({ reason: 'signature_mismatch' });
    expect(String(request.headers['webhook-signature']).split(' ')).toHaveLength(2);

    const { body: third } = await customer.call('POST', `/v1/webhooks/${id}/rotate-secret`, {
      overlap_seconds: 0,
      force: true,
    });
    await emit();
    const [, last] = (await receiver.waitFor(2)) as [ReceivedRequest, ReceivedRequest];
    expect(await verifyHex(third.secret, last)).toMatchObject({ type: 'batch.failed' });
    expect(await verify(third.secret, last)).toMatchObject({ type: 'batch.failed' });
    expect(String(last.headers['webhook-signature']).split(' ')).toHaveLength(1);
  });
});

describe.each(queueBackends())('a replay of pending deliveries, queued on $name', (backend) => {
  it('sends them at once with their next attempt, and those of a paused webhook when it is resumed', async () => {
    const stage = await openTestStage(backend);
    try {
      const api = await stage.startApi();
      await stage.startWorker({ WEBHOOK_RETRY_SCHEDULE: '1h,1h,1h' });
      const customer = await createApiCustomer(api);
      const receiver = await stage.startReceiver({ respond: () => ({ status: 500 }) });
      const { id } = await customer.createWebhook(receiver.url());
      const path = `/v1/webhooks/${id}`;
      await customer.emit([testEvent(customer.organizationId)]);
      const [request] = (await receiver.waitFor(1)) as [ReceivedRequest];
      const delivery = `/v1/webhooks/deliveries/${request.headers['x-service-delivery-id']}`;
      const untilAttempts = (number: number) =>
        until(`attempt ${number}`, async () => (await customer.call('GET', delivery)).body, {
          holds: ({ attempt_count }: Delivery) => attempt_count === number,
        });
      await untilAttempts(1);
      const since = new Date(Date.now() - 60_000).toISOString();
      const replay = async () =>
        (await customer.call('POST', `${path}/replay`, { since, status: ['pending'], error: ['http_error'] })).body;
      expect(await replay()).toMatchObject({ matched: 1 });
      expect(await untilAttempts(2)).toMatchObject({ status: 'pending', max_attempts: 4, waiting_for: 'schedule' });

      receiver.respond(() => ({}));
      await customer.call('POST', `${path}/pause`, {});
      const paused = await replay();
      expect(paused).toMatchObject({ matched: 1 });
      expect((await customer.call('GET', delivery)).body).toMatchObject({ attempt_count: 2, waiting_for: 'paused' });
      await customer.call('POST', `${path}/resume`, {});
      expect(await untilAttempts(3)).toMatchObject({ status: 'succeeded', max_attempts: 4 });
      const ended = await until(
        'it is completed',
        async () => (await customer.call('GET', `/v1/webhooks/replays/${paused.id}`)).body,
        { holds: ({ state }) => state === 'completed' },
      );
      expect(ended).toMatchObject({ matched: 1, succeeded: 1, failed: 0, canceled: 0 });
      expect(receiver.requests.map(({ headers }) => headers['x-service-attempt'])).toEqual(['1', '2', '3']);
    } finally {
      await stage.close();
    }
  });
});
