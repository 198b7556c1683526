import { newEvent, writeEvents } from '@enterprise-api/shared/events';
import { type Database, databaseTime, ensurePartitions, uuidAtTime } from '@enterprise-api/shared/ledger';
import { projectFolder, spawnGuarded, steadily, testEvent, until } from '@enterprise-api/testkit';
import { sql } from 'kysely';
import { conclude, type Finding, untilSettled } from './finding.ts';
import { emit } from './load.ts';
import { type FaultStage, openFaultStage, type Stores } from './stage.ts';

/** R19: two years of months go while events are emitted and delivered, and what removes them is killed again and again. */
export interface RetentionKills {
  months: number;
  eventsPerMonth: number;
  /** Events of each month past retention that are pending until the end. */
  pendingPerMonth: number;
  kills: number;
  emissionsPerSecond: number;
  settleWithinMs: number;
}

/** The workers keep everything: what is removed is removed by the command, which is killed. */
const keptForEver = { RETENTION_BODIES: '0', RETENTION_HISTORY: '0', RETENTION_AUDIT: '0' };
/** Every two seconds at first, then for longer than any machine takes for the kills; a 404 opens no circuit. */
const retrySeconds = [...Array.from({ length: 30 }, () => 2), ...Array.from({ length: 70 }, () => 30)];
const patientRetries = {
  WEBHOOK_RETRY_SCHEDULE: retrySeconds.map((seconds) => `${seconds}s`).join(','),
  WEBHOOK_RETRY_JITTER: '0',
};
/** The kills end after half of the time for which the deliveries are retried, so that these are pending until then. */
const killForAtMostMs = (retrySeconds.reduce((sum, seconds) => sum + seconds, 0) / 2) * 1_000;
/** With the default settings, months before this one that are past the retention of the history at any day of a month. */
const pastHistory = 5;
const later = '/later';

export async function killRetention(stores: Stores, size: RetentionKills): Promise<Finding> {
  await using stage = await openFaultStage(stores, { ...keptForEver, ...patientRetries });
  const waiting = await stage.subscribe([later]);
  const { organizationId } = await stage.subscribe(['/hook']);
  const state = { refuses: true };
  stage.requests.respond(({ path }) => ({ status: path === later && state.refuses ? 404 : 200 }));
  const monthsWithPending = await fillMonths(stage.db, waiting.organizationId, size);
  const api = await stage.startApi();
  await stage.startWorker();
  let emitted = 0;
  let slowestMs = 0;
  const load = steadily(size.emissionsPerSecond, async () => {
    slowestMs = Math.max(slowestMs, (await emit(api.internalUrl, organizationId, 10)).ms);
    emitted += 10;
  });
  const killed = await killInBetween(stage, size.kills);
  const first = await runToItsEnd(stage);
  const keptWhilePending = await countMonths(stage.db);
  const bodies = await countPendingBodies(stage.db);
  const ended = await describeOld(stage, waiting.organizationId);
  state.refuses = false;
  const isLeft = async () => (await pendingOf(stage.db, waiting.organizationId)) === 0;
  await until('the old deliveries are sent', isLeft, { withinMs: size.settleWithinMs, everyMs: 200 });
  const last = await runToItsEnd(stage);
  await load.stop();
  await untilSettled(stage, emitted, size.settleWithinMs);
  const arrived = new Set(stage.requests.sent.filter(({ path }) => path === later).map((sent) => sent.deliveryId)).size;
  const pending = monthsWithPending * size.pendingPerMonth;
  const figures = {
    deliveries: emitted,
    'months before': size.months + 1,
    kills: killed,
    'months kept while something in them was pending': keptWhilePending,
    'months after': await countMonths(stage.db),
    'slowest emission (ms)': Math.round(slowestMs),
  };
  return await conclude(stage, emitted, figures, {
    [`${bodies} bodies of ${pending} pending deliveries; the receiver refused all of them, and before it accepted them ${ended}`]:
      bodies === pending,
    [`${arrived} of ${pending} old deliveries arrived`]: arrived === pending,
    [`the command ended with ${first} and ${last}`]: first === 0 && last === 0,
    [`${figures['months after']} months are left`]: figures['months after'] <= pastHistory + 1,
    'tables of interrupted runs are left': (await countLeftTables(stage.db)) === 0,
  });
}

/**
 * Fills each month with events and canceled deliveries, as if the product had run for so long, and with some that are not
 * fanned out yet. @returns how many months have some of those
 */
async function fillMonths(db: Database, organizationId: string, size: RetentionKills): Promise<number> {
  const now = await databaseTime(db);
  let withPending = 0;
  for (let ago = size.months; ago >= 0; ago -= 1) {
    const at = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - ago, ago === 0 ? 1 : 15));
    await ensurePartitions(db, at, 1);
    const id = sql`overlay(gen_random_uuid()::text placing ${uuidAtTime(at.getTime()).slice(0, 13)} from 1 for 13)::uuid`;
    await sql`
      with made as materialized (select ${id} as id from generate_series(1, ${size.eventsPerMonth})), written as (
        insert into events (id, organization_id, type, created_at) select id, ${organizationId}, 'batch.failed', ${at} from made
      ), bodies as (
        insert into event_bodies select id, ${`{"data":{"text":"${'x'.repeat(500)}"}}`} from made
      )
      insert into deliveries (id, organization_id, webhook_id, event_id, event_type, status, max_attempts, created_at, completed_at)
      select delivery_id(id, ${organizationId}), ${organizationId}, ${organizationId}, id, 'batch.failed', 'canceled', 10, ${at}, ${at}
      from made`.execute(db);
    if (ago < pastHistory) continue;
    withPending += 1;
    const events = Array.from({ length: size.pendingPerMonth }, () =>
      newEvent(testEvent(organizationId), at.getTime()),
    );
    await writeEvents(db, events);
  }
  return withPending;
}

/** Starts the command and kills it, later each time, until it has been killed so often. @returns how often it was */
async function killInBetween(stage: FaultStage, kills: number): Promise<number> {
  const endsAt = performance.now() + killForAtMostMs;
  let killed = 0;
  for (let kill = 0; kill < kills && performance.now() < endsAt; kill += 1) {
    const command = await retention(stage);
    await until('the command has its lock', async () => command.lines.length > 0 || (await hasLock(stage.db)), {
      withinMs: 60_000,
      everyMs: 5,
    });
    await Promise.race([command.exited, new Promise((resolve) => setTimeout(resolve, 60 * kill))]);
    command.kill('SIGKILL');
    const { signal } = await command.exited;
    killed += signal === 'SIGKILL' ? 1 : 0;
  }
  return killed;
}

/** A table that is in use ends the command with 1: it is run again, as its message says. */
async function runToItsEnd(stage: FaultStage): Promise<number | null> {
  let code: number | null = null;
  for (let tries = 0; tries < 20 && code !== 0; tries += 1) ({ code } = await (await retention(stage)).exited);
  return code;
}

function retention(stage: FaultStage) {
  const env = { PATH: process.env.PATH, DATABASE_URL: stage.databaseUrl };
  return spawnGuarded(process.execPath, ['services/webhook-worker/src/retention-main.ts'], { cwd: projectFolder, env });
}

async function hasLock(db: Database): Promise<boolean> {
  const { rows } = await sql`
    select from pg_locks l join pg_stat_activity a using (pid)
    where l.locktype = 'advisory' and a.application_name = 'enterprise-api-retention' and a.datname = current_database()`.execute(
    db,
  );
  return rows.length > 0;
}

async function pendingOf(db: Database, organizationId: string): Promise<number> {
  const { rows } = await sql<{ pending: number }>`
    select (select count(*) from deliveries where status = 'pending' and organization_id = ${organizationId})
      + (select count(*) from outbox where organization_id = ${organizationId}) as pending`.execute(db);
  return rows[0]?.pending ?? 0;
}

/** What has become of the deliveries that the receiver refuses: a failed one has used up its retries, and its month may go. */
async function describeOld({ db, requests }: FaultStage, organizationId: string): Promise<string> {
  const { rows } = await sql<{ status: string; count: number }>`
    select status, count(*) as count from deliveries
    where organization_id = ${organizationId} and webhook_id <> organization_id group by status order by status`.execute(
    db,
  );
  const old = requests.sent.filter(({ path }) => path === later);
  const attempts = Math.max(0, ...old.map(({ attempt }) => attempt));
  const statuses = rows.map(({ status, count }) => `${count} ${status}`).join(', ') || 'none';
  return `the ledger had ${statuses}, after ${attempts} of ${retrySeconds.length + 1} attempts at most`;
}

/** Bodies of what is pending in months whose other bodies have gone. */
async function countPendingBodies(db: Database): Promise<number> {
  const { rows } = await sql<{ found: number }>`
    select count(*) as found from deliveries d join event_bodies e on e.event_id = d.event_id
    where d.status = 'pending'
      and e.event_id < (select (lpad(to_hex((extract(epoch from bodies_removed_until) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
        from retention_progress)`.execute(db);
  return rows[0]?.found ?? 0;
}

/** Months up to this one that have a partition. */
async function countMonths(db: Database): Promise<number> {
  const { rows } = await sql<{ months: number }>`
    select count(distinct right(c.relname, 7)) as months from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = any ('{events,deliveries,attempts}'::regclass[])
      and right(c.relname, 7) <= to_char(now() at time zone 'utc', 'YYYY_MM')`.execute(db);
  return rows[0]?.months ?? 0;
}

async function countLeftTables(db: Database): Promise<number> {
  const { rows } = await sql<{ left: number }>`
    select count(*) as left from pg_class where relkind = 'r' and relname ~ '^(events|event_bodies|deliveries|attempts)_\\d'
      and not relispartition`.execute(db);
  return rows[0]?.left ?? 0;
}
