import { setTimeout as pause } from 'node:timers/promises';
import { inParallel, steadily, storedKey, until } from '@enterprise-api/testkit';
import { conclude, type Finding, untilSettled } from './finding.ts';
import { apiEvent, type Posted, post } from './load.ts';
import { type FaultStage, openFaultStage, type Stores } from './stage.ts';

/** R5: the ledger goes away under load, and comes back. Whoever got no 202 then emits the event again, with the same id. */
export interface PostgresOutage {
  eventsPerSecond: number;
  webhooks: number;
  beforeMs: number;
  downMs: number;
  settings: Record<string, string>;
  settleWithinMs: number;
  /** The part of the 503s that may come later than after a second: a short run on a machine that stalls has some. */
  lateShare: number;
  /** `stop`: in order; `crash`: SIGKILL. */
  how: 'stop' | 'crash';
}

export async function stopPostgres(stores: Stores, size: PostgresOutage): Promise<Finding> {
  const { postgres } = stores;
  if (!postgres) throw new Error('This campaign stops a PostgreSQL: it needs one of its own.');
  await using stage = await openFaultStage(stores, size.settings);
  const { organizationId } = await stage.subscribe(Array.from({ length: size.webhooks }, (_, n) => `/${n}`));
  // Answers that take a moment: some requests are under way when the ledger goes.
  stage.requests.respond(() => pause(100, {}));
  const api = await stage.startApi();
  const workers = [await stage.startWorker(), await stage.startWorker()];
  const accepted = new Set<string>();
  const unanswered: string[] = [];
  const refused: Posted[] = [];
  let n = 0;
  let isDown = false;
  await using load = steadily(size.eventsPerSecond, async () => {
    n += 1;
    const key = `event-${n}`;
    const sentWhileDown = isDown;
    const posted = await post(api.internalUrl, [apiEvent(organizationId, key)]);
    if (posted.status === 202) accepted.add(key);
    else unanswered.push(key);
    if (posted.status !== 202 && sentWhileDown && isDown) refused.push(posted);
  });
  await until('a first request', () => stage.requests.sent.length > 0, { withinMs: 20_000 });
  await pause(size.beforeMs);
  isDown = true;
  await postgres[size.how]();
  await pause(size.downMs);
  isDown = false;
  await postgres.start();
  await api.ready(15_000);
  await pause(size.beforeMs);
  await load.stop();
  await inParallel(unanswered, 2, async (key) => {
    const isAccepted = async () => (await post(api.internalUrl, [apiEvent(organizationId, key)])).status === 202;
    await until(`${key} is accepted`, isAccepted, { withinMs: 20_000 });
    accepted.add(key);
  });
  const keys = await stage.db.selectFrom('event_keys').select('key').execute();
  const events = await stage.db.selectFrom('events').select('id').execute();
  await untilSettled(stage, events.length * size.webhooks, size.settleWithinMs);
  await Promise.all([...workers, api].map((service) => service.stop()));
  const written = new Set(keys.map((row) => row.key));
  const lost = [...accepted].filter((key) => !written.has(storedKey(organizationId, key))).length;
  return await report(stage, size, { events: events.length, twice: events.length - n, lost, refused });
}

interface Run {
  events: number;
  /** Events beyond one for each id. */
  twice: number;
  /** Events that were accepted and are not in the ledger. */
  lost: number;
  /** Emissions that were not accepted while the ledger was away. */
  refused: readonly Posted[];
}

async function report(
  stage: FaultStage,
  size: PostgresOutage,
  { events, twice, lost, refused }: Run,
): Promise<Finding> {
  const deliveries = events * size.webhooks;
  const slowest = Math.round(Math.max(0, ...refused.map(({ ms }) => ms)));
  const late = refused.filter(({ ms }) => ms > 1_000).length;
  const otherAnswers = refused.filter(({ status }) => status !== 503).length;
  const falseOutcomes = await failedAttempts(stage);
  const figures = {
    deliveries,
    'away (s)': size.downMs / 1_000,
    'refused with 503': refused.length - otherAnswers,
    'slowest 503 (ms)': slowest,
  };
  return await conclude(stage, deliveries, figures, {
    'no emission was made during the outage': refused.length > 0,
    [`${otherAnswers} answers other than 503 during the outage`]: otherAnswers === 0,
    [`${late} of ${refused.length} answers later than after a second, one after ${slowest} ms`]:
      late <= size.lateShare * refused.length,
    [`${lost} accepted events are gone`]: lost === 0,
    [`${twice} events twice`]: twice === 0,
    [`attempts recorded as failed: ${falseOutcomes.join()}`]: falseOutcomes.length === 0,
  });
}

/** The errors of attempts that failed, although the receiver answers every request with 200. */
async function failedAttempts({ db }: FaultStage): Promise<string[]> {
  const rows = await db
    .selectFrom('all_attempts')
    .select(['error', 'status_code', 'error_message', 'duration_ms'])
    .where((where) => where.or([where('error', 'is not', null), where('status_code', '<>', 200)]))
    .execute();
  return rows.map((row) => `${row.error} ${row.status_code} ${row.error_message} ${row.duration_ms}`);
}
