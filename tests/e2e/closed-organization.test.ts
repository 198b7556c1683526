import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { EmitEventInput } from '@enterprise-api/shared/contracts';
import { createEventProducer, createQueueOnlyProducer } from '@enterprise-api/shared/events';
import type { Database } from '@enterprise-api/shared/ledger';
import { createJobProducer, openQueue } from '@enterprise-api/shared/queue';
import { toPublicId } from '@enterprise-api/shared/runtime';
import {
  type ApiClient,
  createApiClient,
  lowest,
  queueBackends,
  type ServiceProcess,
  testEvent,
  until,
} from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { databaseRows } from '../security/searched-places.ts';
import { openTestStage, type TestStage, uuidOf } from './stage.ts';

const answersAfterMs = 300;

describe.each(queueBackends())('a closed organization, queued on $name', (backend) => {
  let stage: TestStage;
  let api: ServiceProcess;
  let client: ApiClient;

  beforeAll(async () => {
    stage = await openTestStage(backend);
    api = await stage.startApi();
    client = createApiClient(api);
    await stage.startWorker();
  });
  afterAll(() => stage.close());

  const close = async (organizationId: string, eraseAfter = 3_600, through = client) => {
    const id = toPublicId('org', organizationId);
    const body = { confirm: id, erase_after: eraseAfter };
    const { status } = await through.internal('POST', `/internal/v1/organizations/${id}/close`, body);
    expect(status).toBe(202);
  };
  const untilOutboxIsEmpty = (organizationId: string) =>
    until(
      'no event waits',
      () => stage.db.selectFrom('outbox').select('event_id').where('organization_id', '=', organizationId).execute(),
      { holds: ({ length }) => length === 0, withinMs: 30_000 },
    );

  it('gets no further attempt; its pending deliveries become canceled, and an answer that was under way counts', async () => {
    const gate = Promise.withResolvers<void>();
    const receiver = await stage.startReceiver({
      respond: async ({ order }) => {
        if (order < 2) await gate.promise;
        return { status: order === 0 ? 200 : 500 };
      },
    });
    const { organizationId } = await stage.subscribe({ url: receiver.url() });
    await stage.producer.emit(Array.from({ length: 2 }, () => testEvent(organizationId)));
    await receiver.waitFor(2);
    await close(organizationId);
    gate.resolve();
    await stage.untilDeliveries(organizationId, (rows) => {
      const statuses = rows.map(({ status }) => status).sort();
      return statuses.join() === 'canceled,succeeded';
    });
    const path = `/internal/v1/organizations/${toPublicId('org', organizationId)}/deliveries?status=canceled`;
    expect((await client.internal('GET', path)).body.data).toMatchObject([{ canceled_reason: 'organization_closed' }]);
    // An event of a producer that does not ask whether the organization exists.
    await stage.producer.emit([testEvent(organizationId)]);
    await untilOutboxIsEmpty(organizationId);
    const rows = await stage.deliveries(organizationId);
    expect([rows.length, receiver.requests.length]).toEqual([2, 2]);
  });

  it('gets no attempt later than 5 s after it from a worker that missed the push', async () => {
    await using resources = new AsyncDisposableStack();
    const other = queueBackends().find(({ name }) => name !== backend.name) as typeof backend;
    const store = resources.adopt(await other.start(), ({ close: closeStore }) => closeStore());
    // This API publishes changes where the worker does not listen.
    const silent = createApiClient(resources.use(await stage.startApi({ REDIS_URL: store.redisUrl ?? '' })));
    const promisedMs = 5_000;
    const tookMs = await lowest(promisedMs, async () => {
      const receiver = await stage.startReceiver({ respond: () => pause(answersAfterMs, {}) });
      const { organizationId } = await stage.subscribe({ url: receiver.url() });
      await stage.producer.emit(Array.from({ length: 800 }, () => testEvent(organizationId)));
      await receiver.waitFor(20);
      await close(organizationId, 3_600, silent);
      const closedAt = Date.now();
      const lastAt = () => receiver.requests.at(-1)?.receivedAt ?? 0;
      await until('the worker is silent', () => Date.now() - lastAt() > 10 * answersAfterMs);
      const isOver = ({ status }: { status: string }) => status === 'succeeded' || status === 'canceled';
      const rows = await stage.untilDeliveries(organizationId, (all) => all.every(isOver));
      expect(rows.filter(({ status }) => status === 'canceled').length).toBeGreaterThan(0);
      return lastAt() - closedAt;
    });
    expect(tookMs).toBeLessThanOrEqual(promisedMs);
  });

  it('is unknown to a producer with a transaction of its own, and an event that commits later is dropped', async () => {
    const { organizationId } = await stage.subscribe();
    const producer = createEventProducer({ ...urlsOf(stage), onError: () => undefined });
    const late = await stage.db.startTransaction().execute();
    const event = eventOf(organizationId);
    await producer.emit(late, event);
    await close(organizationId);
    const emitting = producer.transaction(stage.db, (_trx, emit) => emit(event));
    await expect(emitting).rejects.toThrow(toPublicId('org', organizationId));
    await late.commit().execute();
    await untilOutboxIsEmpty(organizationId);
    expect(await stage.deliveries(organizationId)).toEqual([]);
    await producer.close();
  });

  it('has no body left in a job with a whole event', async () => {
    const { organizationId } = await stage.subscribe();
    await close(organizationId);
    const jobs = createJobProducer(stage.queue, 'writeEvent', () => undefined);
    const { queue, close: closeQueue } = openQueue(stage.queue, 'event-writes', () => undefined);
    await createQueueOnlyProducer(jobs).emit({ ...eventOf(organizationId), id: 'queued' });
    const [job] = await until('a failed job', () => queue.getFailed(), { holds: ({ length }) => length === 1 });
    expect(job?.failedReason).toContain(`closed organization ${toPublicId('org', organizationId)}`);
    expect(JSON.stringify(job?.data)).not.toContain('queued');
    await Promise.all([jobs.close(), closeQueue()]);
  });

  it('has nothing left in the ledger once its data are erased, and drops what commits even later', async () => {
    const receiver = await stage.startReceiver({ respond: () => ({ status: 500, body: 'canary-response' }) });
    const { id, keyId, webhookId } = await createWithCanaries(api, receiver.url('/canary-url'));
    const organizationId = uuidOf('org', id);
    await client.emit([{ ...eventOf(organizationId, 'canary'), id: 'canary-key' }]);
    await stage.untilDeliveries(organizationId, ([row]) => (row?.attempt_count ?? 0) > 0);
    expect((await canariesIn(stage.db)).length).toBeGreaterThan(8);
    await close(organizationId, 0);
    const read = async (path: string) => (await client.internal('GET', `/internal/v1/organizations/${id}${path}`)).body;
    const closed = await until('it is closed', () => read(''), {
      holds: ({ state }) => state === 'closed',
      withinMs: 120_000,
      everyMs: 200,
    });
    expect(closed).toMatchObject({ name: null, external_id: null, closed_at: expect.any(String) });
    expect(await canariesIn(stage.db)).toEqual([]);
    const [key] = (await read('/keys')).data;
    expect(key).toMatchObject({ id: keyId, name: null, ip_allowlist: null });
    const [delivery] = (await read('/deliveries')).data;
    const detail = await client.internal('GET', `/internal/v1/deliveries/${delivery.id}`);
    expect(detail.body.attempts[0]).toMatchObject({ url: null, error_message: null, response_body: null });
    const audit = await client.internal('GET', `/internal/v1/audit?object_id=${webhookId}`);
    expect(audit.body.data).toMatchObject([
      { action: 'webhook.updated', changed_fields: ['url'], changes: {} },
      { action: 'webhook.created', changes: {} },
    ]);

    await stage.producer.emit([testEvent(organizationId, { data: { consultation_id: 'canary-late' } })]);
    await untilOutboxIsEmpty(organizationId);
    expect(await canariesIn(stage.db)).toEqual([]);
  });
});

/** An organization with the word `canary` in everything that a caller may name. */
async function createWithCanaries(api: ServiceProcess, url: string) {
  const client = createApiClient(api);
  const once = { 'idempotency-key': randomUUID() };
  const named = { name: 'canary-name', plan: 'enterprise', external_id: 'canary-external' };
  const { id } = (await client.internal('POST', '/internal/v1/organizations', named, once)).body;
  const key = await client.createKey(id, { name: 'canary-key-name', ip_allowlist: ['127.0.0.1'] });
  const call = createApiClient(api, { key: key.secret });
  const { id: webhookId } = await call.createWebhook(url, { description: 'canary-description' });
  await call.call('PATCH', `/v1/webhooks/${webhookId}`, { url: `${url}/canary-moved` });
  return { id, keyId: key.id, webhookId };
}

/** Tables with the word in a row. The queue's tables belong to other tests too. */
async function canariesIn(db: Database): Promise<string[]> {
  const rows = [...(await databaseRows(db))].filter(([name]) => name.startsWith('table public.'));
  return rows.flatMap(([name, text]) => (text.includes('canary') ? [name] : []));
}

const eventOf = (organizationId: string, batch = 'queued'): EmitEventInput => ({
  organization_id: toPublicId('org', organizationId),
  type: 'batch.failed',
  data: { batch_id: batch },
});

function urlsOf({ queue, databaseUrl }: TestStage) {
  return queue.kind === 'redis' ? { redisUrl: queue.url } : { databaseUrl };
}
