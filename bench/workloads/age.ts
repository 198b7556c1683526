import { type Database, ensurePartitions, partitionedTables } from '@enterprise-api/shared/ledger';
import { toPublicId } from '@enterprise-api/shared/runtime';
import { createApiClient } from '@enterprise-api/testkit';
import { sql } from 'kysely';
import { deliver, deliveryFigures } from '../measure/deliver.ts';
import { pageTimes } from '../measure/history.ts';
import { emission } from '../stage/emission.ts';
import { openFiller } from '../stage/fill.ts';
import { openBenchStage } from '../stage/stage.ts';
import { subscribe } from '../stage/subscriptions.ts';
import type { Finding, RunContext } from '../workload.ts';

/** Months before the current partitions: the ledger is then more than two years old. */
const months = 23;
const rowsPerMonth = 2_000;
/** The part of W1's events that is sent at each age. */
const part = 1 / 4;

/**
 * W10b: W1, and pages of the history, with the partitions of a new ledger and with those of two years; then again without the
 * old ones, so that a machine that becomes slower is not taken for a ledger that does.
 */
export async function age({ lab, sizes, setting }: RunContext): Promise<Finding> {
  const settings = { API_RATE_LIMITS: 'enterprise=100000000' };
  await using stage = await openBenchStage(lab, { setting, settings });
  const shape = { organizations: 1, webhooks: 1 };
  const { organizationIds, webhookIds } = await subscribe(stage.db, lab.receiverPort, shape);
  const [organizationId = ''] = organizationIds;
  const owner = { organizationId, webhookIds, folder: lab.stores.postgres.folder };
  await using filler = await openFiller(stage.databaseUrl, owner);
  const [soundWebhookId = '', ...others] = filler.webhookIds.map((id) => toPublicId('whk', id));
  const { secret: key } = await createApiClient(stage.api).createKey(toPublicId('org', organizationId));
  const { closed } = emission(stage, organizationIds);
  const problems: string[] = [];
  const measure = async (): Promise<Record<string, number>> => {
    await sql`vacuum analyze`.execute(stage.db);
    const warm = await deliver(stage, closed(sizes.warmUp, 50), { webhooksPerEvent: 1 });
    const measured = await deliver(stage, closed(Math.ceil(sizes.events * part), 50), { webhooksPerEvent: 1 });
    const pages = await pageTimes(stage, key, { webhookIds: others, soundWebhookId });
    problems.push(...warm.problems, ...measured.problems, ...pages.problems);
    return { ...deliveryFigures(measured), ...pages.p95 };
  };
  await filler.fillTo(rowsPerMonth);
  const kept = (await partitionsOf(stage.db, 'deliveries')).length;
  const young = await measure();
  const now = new Date();
  for (let back = 2; back < months + 2; back++) await ensurePartitions(stage.db, monthsBefore(now, back), 0);
  const period = { from: monthsBefore(now, months + 1), until: monthsBefore(now, 2) };
  await filler.fillTo((months + 1) * rowsPerMonth, period);
  const partitions = (await partitionsOf(stage.db, 'deliveries')).length;
  const old = await measure();
  await dropOldest(stage.db, kept);
  const again = await measure();
  const figures = Object.entries(old).flatMap(([name, value]) => {
    const mean = ((young[name] ?? Number.NaN) + (again[name] ?? Number.NaN)) / 2;
    return [
      [`${name}_young`, mean],
      [`${name}_old`, value],
      [`${name.replace(/_us$/, '')}_ratio`, value / mean],
    ];
  });
  return { figures: { partitions_young: kept, partitions_old: partitions, ...Object.fromEntries(figures) }, problems };
}

/** The middle of a month. */
function monthsBefore(now: Date, count: number): Date {
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - count, 15));
}

async function dropOldest(db: Database, kept: number): Promise<void> {
  for (const table of partitionedTables) {
    for (const name of (await partitionsOf(db, table)).slice(0, -kept)) {
      await sql`drop table ${sql.table(name)}`.execute(db);
    }
  }
}

/** The partitions of a table, the oldest first: a name ends with its month. */
async function partitionsOf(db: Database, table: string): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select inhrelid::regclass::text as name from pg_inherits where inhparent = ${table}::regclass order by 1`.execute(
    db,
  );
  return rows.map(({ name }) => name);
}
