import { type ServiceProcess, suspend, until } from '@enterprise-api/testkit';
import { conclude, type Finding, untilSettled } from './finding.ts';
import { emit } from './load.ts';
import { type FaultStage, openFaultStage, type Stores } from './stage.ts';

/** R6: a worker is suspended for longer than its leases, and then resumes. */
export interface Suspension {
  /** Deliveries of each of the two webhooks. */
  events: number;
  settings: Record<string, string>;
  /** At least this long; the suspended worker's leases have run out long before. */
  forMs: number;
  settleWithinMs: number;
}

/** Requests under way when the worker is suspended: 4 of each webhook. */
const concurrency = 4;
const underWay = 2 * concurrency;

/**
 * Two webhooks, both with requests under way and deliveries waiting when the worker is suspended. When it
 * resumes, the answers to its requests are there. `/late-success`: it reads 200 after the other worker got 400; the success
 * counts. `/late-failure`: it reads 400 after the other worker got 200; the success stays.
 */
export async function suspendWorker(stores: Stores, size: Suspension): Promise<Finding> {
  await using stage = await openFaultStage(stores, {
    WEBHOOK_ENDPOINT_CONCURRENCY: String(concurrency),
    // A retry that falls due meanwhile would look like a request of the resumed worker.
    WEBHOOK_RETRY_SCHEDULE: '1h',
    ...size.settings,
  });
  const { organizationId } = await stage.subscribe(['/late-success', '/late-failure']);
  const gate = Promise.withResolvers<void>();
  stage.requests.respond(async ({ path }) => {
    await gate.promise;
    return { status: path === '/late-success' ? 200 : 400 };
  });
  const api = await stage.startApi();
  const suspended = await stage.startWorker();
  await emit(api.internalUrl, organizationId, size.events);
  const areUnderWay = () => stage.requests.sent.length === underWay;
  await until(`${underWay} requests under way`, areUnderWay, { withinMs: 20_000 });
  const startedAt = Date.now();
  const sentBefore = await sendByAnother(stage, suspended, { ...size, startedAt, openGate: gate.resolve });
  await untilSettled(stage, 2 * size.events, size.settleWithinMs);
  const exit = await suspended.stop();
  const stale = stage.requests.sent.length - sentBefore;
  const superseded = await stage.db.selectFrom('all_attempts').selectAll().where('superseded', '=', true).execute();
  const deliveries = 2 * size.events;
  const figures = {
    deliveries,
    'suspended (s)': Math.round((Date.now() - startedAt) / 1_000),
    'superseded results': superseded.length,
  };
  return await conclude(stage, deliveries, figures, {
    [`${stale} requests after it woke up`]: stale === 0,
    [`it ended with ${exit.code}`]: exit.code === 0,
    'no late failure came': superseded.some((attempt) => attempt.status_code === 400),
  });
}

/** Lets another worker send everything while the first is suspended. @returns the number of requests by then */
async function sendByAnother(
  stage: FaultStage,
  suspended: ServiceProcess,
  { forMs, settleWithinMs, startedAt, openGate }: Suspension & { startedAt: number; openGate: () => void },
): Promise<number> {
  const early = new Set(stage.requests.sent.map((request) => request.deliveryId));
  let sent = 0;
  await suspend(suspended, async () => {
    openGate();
    stage.requests.respond(({ path, deliveryId }) => ({
      status: path === '/late-success' && early.has(deliveryId) ? 400 : 200,
    }));
    const other = await stage.startWorker();
    const isDone = async () => await isSentByOther(stage);
    await until('the other worker has sent everything', isDone, { withinMs: settleWithinMs, everyMs: 50 });
    const hasPassed = () => Date.now() - startedAt >= forMs;
    await until(`${forMs} ms have passed`, hasPassed, { withinMs: forMs + 10_000, everyMs: 50 });
    await other.stop();
    sent = stage.requests.sent.length;
  });
  return sent;
}

/** Every delivery has an attempt. Pending are only those whose 200 the suspended worker has not read yet. */
async function isSentByOther({ db }: FaultStage): Promise<boolean> {
  const pending = await db.selectFrom('deliveries').select('attempt_count').where('status', '=', 'pending').execute();
  const outbox = await db.selectFrom('outbox').select('event_id').execute();
  return outbox.length === 0 && pending.length <= concurrency && pending.every((row) => row.attempt_count > 0);
}
