import { fileURLToPath } from 'node:url';
import { producerBinding, selectQueueBackend } from '@enterprise-api/shared/queue';
import { auditLedger, startFleet } from '@enterprise-api/testkit';
import { Queue } from 'bullmq';
import { sql } from 'kysely';
import type { Finding } from './finding.ts';
import { apiEvent, emit, eventually, post } from './load.ts';
import { type FaultStage, openFaultStage, quickLeases, type Stores } from './stage.ts';

/** R13: jobs that nobody understands, and a delivery that kills every process that touches it. */
export interface Poison {
  badJobs: number;
  innocents: number;
  /** How often the delivery kills; from the second time on its due time is set back instead of waiting. */
  deaths: number;
  /** The innocents are sent while it kills, so that some die with it; else after each death. */
  companions: boolean;
}

const deadlyBody = fileURLToPath(new URL('./deadly-body.ts', import.meta.url));

export async function poison(stores: Stores, size: Poison): Promise<Finding> {
  await using stage = await openFaultStage(stores, quickLeases);
  const { organizationId } = await stage.subscribe(['/innocent']);
  const victim = await stage.subscribe(['/deadly']);
  const api = await stage.startApi();
  await using fleet = await startFleet(2, () => stage.startWorker({ NODE_OPTIONS: `--import=${deadlyBody}` }));
  const broken = await addBadJobs(stores, stage, size.badJobs, () => failedJobs(fleet.members.map(({ url }) => url)));
  const deadly = apiEvent(victim.organizationId);
  await post(api.internalUrl, [{ ...deadly, data: { consultation_id: 'this-body-kills' } }]);
  const pauses: number[] = [];
  const innocents = () => emit(api.internalUrl, organizationId, Math.ceil(size.innocents / size.deaths));
  for (let death = 1; death <= size.deaths; death++) {
    if (size.companions) await innocents();
    await eventually(() => fleet.exits.length >= death, 60_000, `death ${death}`);
    if (!size.companions) await innocents();
    pauses.push(await pauseAfterDeath(stage, victim.organizationId, death < size.deaths));
  }
  const expected = Math.ceil(size.innocents / size.deaths) * size.deaths;
  await eventually(async () => (await countSucceeded(stage, organizationId)) === expected, 300_000, 'the innocents');
  const deaths = fleet.exits.length;
  await fleet.stop();
  const audit = await auditLedger(stage.db);
  const [row] = await stage.db
    .selectFrom('deliveries')
    .selectAll()
    .where('organization_id', '=', victim.organizationId)
    .execute();
  if (row?.status !== 'pending') broken.push(`the delivery that kills is ${row?.status}`);
  if (deaths > size.deaths) broken.push(`${deaths} processes died of ${size.deaths} leases`);
  if (pauses.some((pause, index) => pause < expectedPause(index))) broken.push(`pauses of ${pauses.join(', ')} s`);
  if (audit.violations > 0) broken.push(`${audit.violations} rows break the invariant`);
  return {
    lost: expected - (await countSucceeded(stage, organizationId)),
    duplicates: stage.requests.duplicates(),
    figures: {
      'jobs that nobody understands': size.badJobs,
      'processes killed by one delivery': deaths,
      'its next lease after (s)': pauses.join(', '),
      'innocent deliveries': expected,
    },
    broken,
  };
}

/** The lease of 3 s, and from the second on 30 s × (2^lease_count − 1) more, an hour at most. */
function expectedPause(index: number): number {
  return Math.min(30 * (2 ** index - 1), 3_600);
}

async function addBadJobs(
  stores: Stores,
  stage: FaultStage,
  count: number,
  failed: () => Promise<number>,
): Promise<string[]> {
  const backend = selectQueueBackend({ redisUrl: stores.redisUrl, databaseUrl: stage.databaseUrl });
  const { options, factory } = producerBinding(backend, 'events');
  const queue = new Queue('events', options, factory);
  const kinds = [{ version: 2, event_ids: [] }, { version: 1, event_ids: 'none' }, null, 'text', { version: 1 }];
  for (let n = 0; n < count; n++) await queue.add('take', kinds[n % kinds.length]);
  await eventually(async () => (await queue.getFailedCount()) === count, 20_000, `${count} failed jobs`);
  const [job] = await queue.getFailed(0, 0);
  await queue.close();
  const counted = await failed();
  return [
    ...(job?.failedReason?.includes('not a job') ? [] : [`a failed job says ${job?.failedReason}`]),
    ...(counted === count ? [] : [`the metric says ${counted} of ${count} failed jobs`]),
  ];
}

async function failedJobs(urls: string[]): Promise<number> {
  const texts = await Promise.all(urls.map(async (url) => (await fetch(`${url}/metrics`)).text()));
  return texts.reduce((sum, text) => sum + Number(/^webhook_jobs_failed_total\{.*\} (\d+)/m.exec(text)?.[1] ?? 0), 0);
}

/** Seconds until the delivery may be leased again; then, if it is to go on, it may at once. */
async function pauseAfterDeath(stage: FaultStage, organizationId: string, goOn: boolean): Promise<number> {
  const { rows } = await sql<{ due_in: number }>`
    select extract(epoch from next_attempt_at - now())::float8 as due_in from deliveries
    where organization_id = ${organizationId}`.execute(stage.db);
  if (goOn) {
    await sql`update deliveries set next_attempt_at = now() where organization_id = ${organizationId}`.execute(
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
