import { until } from '@enterprise-api/testkit';
import { sql } from 'kysely';
import { conclude, type Finding, untilSettled } from './finding.ts';
import { isDelayed, type Latency, type LatencyLimit, measureLatencyOf, ratioOf } from './latency.ts';
import { type LoadedSide, startLoadedSide, withRequestsOf } from './loaded-side.ts';
import { type FaultStage, openFaultStage, type Stores } from './stage.ts';

/** Isolation under load: the backlog or flood of some webhooks must not delay the steady traffic of others. */
export interface Neighbours extends LatencyLimit {
  /** Organizations with a webhook each and steady traffic. */
  others: number;
  eventsPerSecond: number;
  measuredMs: number;
  /** Deliveries that are waiting when their webhooks recover, or events that one organization emits at once. */
  backlog: number;
  /** Webhooks that these deliveries are for, each of an organization of its own. */
  loaded: number;
  workers: number;
  /** The loaded endpoints answer after this time. */
  answerMs: number;
  settleWithinMs: number;
}

/** `WEBHOOK_ENDPOINT_CONCURRENCY`, of each worker. */
const endpointConcurrency = 20;

/** Endpoints recover with a backlog. They must not be flooded, and the others must not be delayed. */
export async function recoverWithBacklog(stores: Stores, size: Neighbours): Promise<Finding> {
  await using run = await open(stores, size);
  const { stage, loaded } = run;
  const patience = { withinMs: size.settleWithinMs, everyMs: 50 };
  await sql`insert into webhook_health (webhook_id, open_until, openings, consecutive_failures)
    select id, now() + interval '1 day', 10, 50 from webhooks where organization_id = any(${loaded}::uuid[])`.execute(
    stage.db,
  );
  await run.flood(size.backlog);
  await until('the backlog', async () => (await waiting(stage, loaded)) >= size.backlog, patience);
  const without = await run.measure();
  const recoveredAt = Date.now();
  // As when a circuit closes: all deliveries that waited for it are due at the same moment.
  await sql`update webhook_health set open_until = now()`.execute(stage.db);
  await sql`update pending_deliveries set next_attempt_at = now() where organization_id = any(${loaded}::uuid[])`.execute(
    stage.db,
  );
  const during = await run.measure();
  const backlogLeft = await waiting(stage, loaded);
  await until('the backlog is drained', async () => (await waiting(stage, loaded)) === 0, patience);
  const drainedMs = Date.now() - recoveredAt;
  const figures = {
    'deliveries waiting': size.backlog,
    'left when the measurement ended': backlogLeft,
    'drained in (s)': Math.round(drainedMs / 1_000),
  };
  return await report(run, size, { without, during }, figures);
}

/** One organization emits all its events at once. */
export async function floodWithEvents(stores: Stores, size: Neighbours): Promise<Finding> {
  await using run = await open(stores, size);
  const { stage, loaded } = run;
  const patience = { withinMs: size.settleWithinMs, everyMs: 50 };
  const without = await run.measure();
  const startedAt = Date.now();
  const [refused, during] = await Promise.all([run.flood(size.backlog), run.measure()]);
  await until('the flood has run off', async () => (await waiting(stage, loaded)) === 0, patience);
  const figures = {
    'events at once': size.backlog,
    'posts of 1,000 refused with 503': refused,
    'delivered in (s)': Math.round((Date.now() - startedAt) / 1_000),
  };
  return await report(run, size, { without, during }, figures);
}

interface Run extends AsyncDisposable {
  stage: FaultStage;
  /** The organizations with the backlog or the flood, and their side of the traffic. */
  loaded: string[];
  side: LoadedSide;
  /** Emits so many events of these organizations. @returns how many posts were answered with 503 */
  flood(events: number): Promise<number>;
  /** The others' latency, under their steady load. */
  measure(): Promise<Latency>;
}

async function open(stores: Stores, size: Neighbours): Promise<Run> {
  await using building = new AsyncDisposableStack();
  const stage = building.use(await openFaultStage(stores));
  const side = building.use(await startLoadedSide(stage.certificate, size.answerMs));
  const loaded = await subscribeEach(stage, size.loaded, (n) => side.url(`/loaded/${n}`));
  const others = await subscribeEach(stage, size.others, () => stage.url('/other'));
  const { internalUrl } = await stage.startApi();
  for (let n = 0; n < size.workers; n++) await stage.startWorker();
  const measure = () => measureLatencyOf(stage, others, { ...size, internalUrl });
  await measure();
  const resources = building.move();
  const close = () => resources.disposeAsync();
  const flood = (events: number) => side.flood({ internalUrl, organizationIds: loaded, events });
  return { stage, loaded, side, flood, measure, [Symbol.asyncDispose]: close };
}

/** @returns new organizations with one webhook each */
async function subscribeEach(stage: FaultStage, count: number, url: (n: number) => string): Promise<string[]> {
  const organizationIds: string[] = [];
  for (let n = 0; n < count; n++) organizationIds.push((await stage.subscribe([''], { url: url(n) })).organizationId);
  return organizationIds;
}

async function report(
  { stage, side }: Run,
  size: Neighbours,
  { without, during }: { without: Latency; during: Latency },
  figures: Finding['figures'],
): Promise<Finding> {
  const { count } = await stage.db
    .selectFrom('events')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  await untilSettled(stage, count, size.settleWithinMs);
  const seen = await side.log();
  const requests = withRequestsOf(stage.requests, seen);
  const most = seen.mostInFlight;
  const duplicates = requests.duplicates();
  const allFigures = {
    ...figures,
    'in flight there at most': most,
    'others’ p50 without, with (ms)': `${without.p50}, ${during.p50}`,
    'others’ p99 without, with (ms)': `${without.p99}, ${during.p99}`,
    'p99 ratio': ratioOf(during, without),
  };
  return await conclude({ ...stage, requests }, count, allFigures, {
    [`others’ p99 went from ${without.p99} to ${during.p99} ms`]: !isDelayed(during, without, size),
    [`${during.missing} deliveries of others had not been sent a minute later`]: during.missing === 0,
    [`${most} requests at once at one endpoint`]: most <= size.workers * endpointConcurrency,
    [`${duplicates} deliveries sent twice`]: duplicates === 0,
  });
}

/** Events in the outbox and pending deliveries of these organizations. */
async function waiting({ db }: FaultStage, ids: readonly string[]): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select (select count(*) from outbox where organization_id = any(${ids}::uuid[]))
      + (select count(*) from deliveries where organization_id = any(${ids}::uuid[]) and status = 'pending') as count`.execute(
    db,
  );
  return rows[0]?.count ?? 0;
}
