import { suspend } from '@enterprise-api/testkit';
import { conclude, type Finding, untilSettled } from './finding.ts';
import { emit, eventually } from './load.ts';
import { openFaultStage, type Stores } from './stage.ts';

/** R6: a worker is stopped for longer than its leases, and wakes up. */
export interface Suspension {
  /** Deliveries of each of the two webhooks. */
  events: number;
  settings: Record<string, string>;
  /** At least this long; the sleeper's leases have run out long before. */
  forMs: number;
  settleWithinMs: number;
}

/**
 * Two webhooks, both with requests under way and deliveries waiting when the worker stops. `/late-success`: its answer,
 * a 200, lies there when it wakes, while the other worker got 400s: the success counts. `/late-failure`: the answer that
 * lies there is a 400, while the other worker got a 200: nothing is undone.
 */
export async function suspendWorker(stores: Stores, size: Suspension): Promise<Finding> {
  await using stage = await openFaultStage(stores, {
    WEBHOOK_ENDPOINT_CONCURRENCY: '4',
    // A retry that falls due just then would look like a stale request.
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
  const sleeper = await stage.startWorker();
  await emit(api.internalUrl, organizationId, size.events);
  await eventually(() => stage.requests.sent.length === 8, 10_000, '8 requests under way');
  const early = new Set(stage.requests.sent.map((request) => request.deliveryId));
  const startedAt = Date.now();
  let sentBefore = 0;
  await suspend(sleeper, async () => {
    gate.resolve();
    stage.requests.respond(({ path, deliveryId }) => ({
      status: path === '/late-success' && early.has(deliveryId) ? 400 : 200,
    }));
    const other = await stage.startWorker();
    await eventually(async () => (await unfinished(stage)) <= 4, size.settleWithinMs, 'the other worker has done all');
    await eventually(() => Date.now() - startedAt >= size.forMs, size.forMs + 1_000, 'time has passed');
    await other.stop();
    sentBefore = stage.requests.sent.length;
  });
  await untilSettled(stage, 2 * size.events, size.settleWithinMs);
  const exit = await sleeper.stop();
  const stale = stage.requests.sent.length - sentBefore;
  const superseded = await stage.db.selectFrom('all_attempts').selectAll().where('superseded', '=', true).execute();
  const deliveries = 2 * size.events;
  return await conclude(
    stage,
    deliveries,
    {
      deliveries,
      'asleep (s)': Math.round((Date.now() - startedAt) / 1_000),
      'late results kept aside': superseded.length,
    },
    {
      [`${stale} requests after it woke up`]: stale === 0,
      [`it ended with ${exit.code}`]: exit.code === 0,
      'no late failure came': superseded.some((attempt) => attempt.status_code === 400),
    },
  );
}

/** Deliveries that wait; those whose success sleeps in the stopped worker are among them. */
async function unfinished({ db }: Awaited<ReturnType<typeof openFaultStage>>): Promise<number> {
  const open = await db
    .selectFrom('deliveries')
    .select(['id', 'attempt_count'])
    .where('status', '=', 'pending')
    .execute();
  const outbox = await db.selectFrom('outbox').select('event_id').execute();
  // A recorded 400 of a late success waits for its retry, which is far off.
  return open.filter((row) => row.attempt_count === 0).length * 10 + open.length + outbox.length * 10;
}
