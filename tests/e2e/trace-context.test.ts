import { AsyncLocalStorage } from 'node:async_hooks';
import { createEventProducer, type EventProducer } from '@enterprise-api/shared/events';
import { toPublicId } from '@enterprise-api/shared/runtime';
import { createApiCustomer, queueBackends, type ServiceProcess, testEvent, until } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Context, context, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { openTestStage, type TestStage, uuidOf } from './stage.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const spanId = 'b7ad6b7169203331';
const traceparent = `00-${traceId}-${spanId}-01`;

/** What a service has that uses OpenTelemetry: a place for the context that is active. */
function enableOpenTelemetry(): void {
  const active = new AsyncLocalStorage<Context>();
  const manager = {
    active: () => active.getStore() ?? ROOT_CONTEXT,
    with: (each: Context, work: (...args: unknown[]) => unknown, thisArg?: unknown, ...args: unknown[]) =>
      active.run(each, () => work.apply(thisArg, args)),
    bind: <Target>(_each: Context, target: Target) => target,
    enable: () => manager,
    disable: () => manager,
  };
  context.setGlobalContextManager(manager as Parameters<typeof context.setGlobalContextManager>[0]);
}

describe.each(queueBackends())('the trace of an event, where no service records traces, queued on $name', (backend) => {
  let stage: TestStage;
  let worker: ServiceProcess;
  let producer: EventProducer;

  beforeAll(async () => {
    stage = await openTestStage(backend);
    worker = await stage.startWorker();
    const redisUrl = stage.queue.kind === 'redis' ? stage.queue.url : undefined;
    producer = createEventProducer({ databaseUrl: stage.databaseUrl, redisUrl, onError: () => undefined });
  });
  afterAll(async () => {
    context.disable();
    await producer.close();
    await stage.close();
  });

  const customer = async () => {
    const { organizationId } = await stage.subscribe();
    const organization_id = toPublicId('org', organizationId);
    return { organizationId, event: { organization_id, type: 'batch.failed' as const, data: { batch_id: 'b' } } };
  };
  const emit = (event: Awaited<ReturnType<typeof customer>>['event'], options?: { traceparent?: string }) =>
    producer.transaction(stage.db, (_trx, emitEvents) => emitEvents(event, options));
  const stored = async (id: string | undefined) => {
    const row = stage.db
      .selectFrom('events')
      .select('traceparent')
      .where('id', '=', uuidOf('evt', id ?? ''));
    return (await row.executeTakeFirstOrThrow()).traceparent;
  };
  /** The header of each request that brought the event. */
  const received = async (id: string | undefined, count = 1) => {
    const of = () => stage.receiver.requests.filter(({ headers }) => headers['webhook-id'] === id);
    const requests = await until('the attempts', of, { holds: (all) => all.length >= count, withinMs: 30_000 });
    return requests.map(({ headers }) => headers.traceparent);
  };

  it('is stored as the producer names it, and not told to receivers', async () => {
    const { event } = await customer();
    const [emitted] = await emit(event, { traceparent });
    expect(await received(emitted?.id)).toEqual([undefined]);
    expect(await stored(emitted?.id)).toBe(traceparent);
  });

  it('is told to receivers with WEBHOOK_TRACEPARENT=true, on every attempt', async () => {
    await worker.stop();
    worker = await stage.startWorker({ WEBHOOK_TRACEPARENT: 'true' });
    const { event } = await customer();
    let requests = 0;
    stage.receiver.respond(() => ({ status: requests++ === 0 ? 503 : 200 }));
    const [emitted] = await emit(event, { traceparent });
    expect(await received(emitted?.id, 2)).toEqual([traceparent, traceparent]);
  });

  it('comes along with a body that is loaded by itself', async () => {
    const { event } = await customer();
    const large = { ...event, data: { batch_id: 'b', text: 'x'.repeat(40_000) } };
    const [emitted] = await emit(large, { traceparent });
    expect(await received(emitted?.id)).toEqual([traceparent]);
  });

  it('comes through the queue with a whole event', async () => {
    const { event } = await customer();
    const id = await producer.enqueue(event, { traceparent });
    expect(await received(id)).toEqual([traceparent]);
    expect(await stored(id)).toBe(traceparent);
  });

  it('is the active one of a producer that has OpenTelemetry and names none', async () => {
    enableOpenTelemetry();
    const active = trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: 1 });
    const { event } = await customer();
    const [inside] = await context.with(active, () => emit(event));
    const queued = await context.with(active, () => producer.enqueue(event));
    const [outside] = await emit(event);
    expect(await stored(inside?.id)).toBe(traceparent);
    expect(await received(queued)).toEqual([traceparent]);
    expect(await received(outside?.id)).toEqual([undefined]);
    expect(await stored(outside?.id)).toBeNull();
  });

  it('is left out where it is no context of a trace, whoever wrote it', async () => {
    const { organizationId, event } = await customer();
    const [emitted] = await emit(event, { traceparent: `${traceparent}\r\nx-other: 1` });
    expect(await received(emitted?.id)).toEqual([undefined]);
    expect(await stored(emitted?.id)).toBeNull();
    // A producer in another language writes rows by itself.
    const trx = await stage.db.startTransaction().execute();
    const { events } = await producer.emit(trx, event, { traceparent });
    const id = uuidOf('evt', events[0]?.id ?? '');
    await trx.updateTable('events').set({ traceparent: 'x\r\ny' }).where('id', '=', id).execute();
    await trx.commit().execute();
    expect(await received(events[0]?.id)).toEqual([undefined]);
    await stage.untilDeliveries(organizationId, (rows) => rows.every((row) => row.status === 'succeeded'));
  });

  it('comes with a request to the internal listener, for all its events, and never with one to the public listener', async () => {
    const api = await stage.startApi();
    const customer = await createApiCustomer(api);
    const organizationId = uuidOf('org', customer.organizationId);
    await stage.subscribe({ organizationId });
    const { type, data } = testEvent(organizationId);
    const event = { organization_id: customer.organizationId, type, data };
    const idsOf = async (headers: Record<string, string>) => {
      const answer = await customer.internal('POST', '/internal/v1/events', { events: [event, event] }, headers);
      expect(answer.status).toBe(202);
      return answer.body.data.map(({ id }: { id: string }) => id) as string[];
    };
    for (const key of [{}, { 'idempotency-key': 'once' }]) {
      const ids = await idsOf({ traceparent, ...key });
      expect(await Promise.all(ids.map(stored))).toEqual([traceparent, traceparent]);
      expect(await received(ids[1])).toEqual([traceparent]);
    }
    expect(await stored((await idsOf({}))[0])).toBeNull();
    expect(await stored((await idsOf({ traceparent: 'x' }))[0])).toBeNull();

    const { id } = await customer.createWebhook(stage.receiver.url('/tested'));
    const test = await customer.call('POST', `/v1/webhooks/${id}/test`, undefined, { traceparent });
    expect(test.status).toBe(202);
    expect(await received(test.body.event_id)).toEqual([undefined]);
    expect(await stored(test.body.event_id)).toBeNull();
  });
});
