import { fileURLToPath } from 'node:url';
import { jobs, openQueue, selectQueueBackend } from '@enterprise-api/shared/queue';
import { auditLedger, type Fleet, readMetric, startFleet, until } from '@enterprise-api/testkit';
import { sql } from 'kysely';
import type { Finding } from './finding.ts';
import { apiEvent, emit, post } from './load.ts';
import { type FaultStage, openFaultStage, quickLeases, type Stores } from './stage.ts';

/** R13: malformed jobs, and a delivery that kills every process that handles it. */
export interface Poison {
  badJobs: number;
  /** Deliveries to another webhook, which must all succeed. */
  others: number;
  /** How often the delivery kills a worker. From the second time on, the run makes it due at once instead of waiting. */
  deaths: number;
  /** True: the others are sent while workers die, so that some attempts are cut off. False: after each death. */
  sendsMeanwhile: boolean;
}

const deadlyBody = fileURLToPath(new URL('./deadly-body.ts', import.meta.url));

export async function poison(stores: Stores, size: Poison): Promise<Finding> {
  await using stage = await openFaultStage(stores, quickLeases);
  const { organizationId } = await stage.subscribe(['/other']);
  const poisoned = await stage.subscribe(['/deadly']);
  const api = await stage.startApi();
  await using fleet = await startFleet(2, () => stage.startWorker({ NODE_OPTIONS: `--import=${deadlyBody}` }));
  const broken = await addBadJobs(stores, stage, size.badJobs, fleet);
  const deadly = apiEvent(poisoned.organizationId);
  await post(api.internalUrl, [{ ...deadly, data: { consultation_id: 'this-body-kills' } }]);
  const pauses: number[] = [];
  const perDeath = Math.ceil(size.others / size.deaths);
  const sendOthers = () => emit(api.internalUrl, organizationId, perDeath);
  for (let death = 1; death <= size.deaths; death++) {
    if (size.sendsMeanwhile) await sendOthers();
    await until(`death ${death}`, () => fleet.exits.length >= death, { withinMs: 60_000 });
    if (!size.sendsMeanwhile) await sendOthers();
    pauses.push(await pauseAfterDeath(stage, poisoned.organizationId, death < size.deaths));
  }
  const expected = perDeath * size.deaths;
  const allSucceeded = async () => (await countSucceeded(stage, organizationId)) === expected;
  await until('the other deliveries have succeeded', allSucceeded, { withinMs: 300_000, everyMs: 50 });
  const deaths = fleet.exits.length;
  await fleet.stop();
  broken.push(...(await findBroken(stage, size, { organizationId: poisoned.organizationId, deaths, pauses })));
  return {
    lost: expected - (await countSucceeded(stage, organizationId)),
    duplicates: stage.requests.duplicates(),
    figures: {
      'malformed jobs': size.badJobs,
      'processes killed by one delivery': deaths,
      'its next lease after (s)': pauses.join(', '),
      'other deliveries': expected,
    },
    broken,
  };
}

interface Deaths {
  organizationId: string;
  deaths: number;
  pauses: readonly number[];
}

async function findBroken(stage: FaultStage, size: Poison, { organizationId, deaths, pauses }: Deaths) {
  const { violations } = await auditLedger(stage.db);
  const rows = await stage.db
    .selectFrom('deliveries')
    .select('status')
    .where('organization_id', '=', organizationId)
    .execute();
  const checks = {
    [`the delivery that kills is ${rows[0]?.status}`]: rows[0]?.status === 'pending',
    [`${deaths} processes died of ${size.deaths} leases`]: deaths <= size.deaths,
    [`pauses of ${pauses.join(', ')} s`]: pauses.every((pause, index) => pause >= expectedPause(index)),
    [`${violations} rows break the invariant`]: violations === 0,
  };
  return Object.entries(checks).flatMap(([what, holds]) => (holds ? [] : [what]));
}

/** The lease of 3 s, and from the second lease on 30 s × (2^leases − 1) more, an hour at most. */
function expectedPause(index: number): number {
  return Math.min(30 * (2 ** index - 1), 3_600);
}

async function addBadJobs(stores: Stores, stage: FaultStage, count: number, fleet: Fleet): Promise<string[]> {
  const backend = selectQueueBackend({ redisUrl: stores.redisUrl, databaseUrl: stage.databaseUrl });
  const { queue, close } = openQueue(backend, 'events', () => undefined);
  const kinds = [{ version: 2, event_ids: [] }, { version: 1, event_ids: 'none' }, null, 'text', { version: 1 }];
  for (let n = 0; n < count; n++) await queue.add(jobs.fanOut.name, kinds[n % kinds.length]);
  const allFailed = async () => (await queue.getFailedCount()) === count;
  await until(`${count} failed jobs`, allFailed, { withinMs: 20_000, everyMs: 50 });
  const [job] = await queue.getFailed(0, 0);
  await close();
  const failed = await Promise.all(fleet.members.map(({ url }) => readMetric(url, 'webhook_jobs_failed_total')));
  const counted = failed.reduce((sum, value) => sum + value, 0);
  return [
    ...(job?.failedReason?.includes('does not understand the job') ? [] : [`a failed job says ${job?.failedReason}`]),
    ...(counted === count ? [] : [`the metric says ${counted} of ${count} failed jobs`]),
  ];
}

/** Seconds until the delivery may be leased again. With `goOn`, it is then made due at once. */
async function pauseAfterDeath(stage: FaultStage, organizationId: string, goOn: boolean): Promise<number> {
  const { rows } = await sql<{ due_in: number }>`
    select extract(epoch from next_attempt_at - now())::float8 as due_in from pending_deliveries
    where organization_id = ${organizationId}`.execute(stage.db);
  if (goOn) {
    await sql`update pending_deliveries set next_attempt_at = now() where organization_id = ${organizationId}`.execute(
      stage.db,
    );
  }
  return Math.round(rows[0]?.due_in ?? Number.NaN);
}

async function countSucceeded({ db }: FaultStage, organizationId: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) from deliveries where organization_id = ${organizationId} and status = 'succeeded'`.execute(db);
  return rows[0]?.count ?? 0;
}
