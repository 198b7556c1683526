import { bodiesTable, type Database, databaseTime, partitionedTables } from '@enterprise-api/shared/ledger';
import { countPending, listPartitions } from './partition-queries.ts';
import { expiryOf, type Partition } from './partitions.ts';
import { pendingCountedUpTo } from './removal.ts';
import { countRows, oldAudit, oldWebhooks, rowLimits } from './row-queries.ts';
import type { RetentionPeriods } from './settings.ts';

const rowsCountedUpTo = 100_000;
const hourMs = 3_600_000;

/** The lines that say for each table what a run would remove now, and when the next partition goes. */
export async function planRetention(db: Database, periods: RetentionPeriods): Promise<string[]> {
  const now = (await databaseTime(db)).getTime();
  const partitions = await listPartitions(db);
  const lines: string[] = [];
  for (const table of [...partitionedTables, bodiesTable]) {
    const ofTable = partitions.filter((partition) => partition.table === table);
    const expired = ofTable.filter((partition) => expiryOf(partition, periods) <= now);
    lines.push(...(await describePartitions(db, table, expired)));
    const next = ofTable.find(
      (partition) => Number.isFinite(expiryOf(partition, periods)) && !expired.includes(partition),
    );
    if (next) lines.push(`  next: ${next.name}, from ${new Date(expiryOf(next, periods)).toISOString()} on`);
  }
  const { eventKeys, audit, deletedWebhooks } = await rowLimits(db, periods, now, partitions);
  const keys = eventKeys === null ? [] : [`those of events before ${new Date(eventKeys).toISOString()}`];
  const rows = async (from: ReturnType<typeof oldAudit> | null) => {
    const count = from === null ? 0 : await countRows(db, from, rowsCountedUpTo);
    return count > 0 ? [`${count} rows`] : [];
  };
  return [
    ...lines,
    describe('event_keys', keys),
    describe('audit_log', await rows(audit && oldAudit(audit))),
    describe('deleted webhooks', await rows(deletedWebhooks && oldWebhooks(deletedWebhooks))),
  ];
}

async function describePartitions(db: Database, table: string, expired: readonly Partition[]): Promise<string[]> {
  const going: string[] = [];
  const kept: string[] = [];
  for (const partition of expired) {
    const { name, bytes } = partition;
    const pending = await countPending(db, partition, pendingCountedUpTo);
    if (pending === 0) going.push(`${name} (${(bytes / 1024 ** 2).toFixed(1)} MB)`);
    else
      kept.push(`  ${name} is kept: ${pending} pending in it${table === bodiesTable ? '; all other bodies go' : ''}`);
  }
  return [describe(table, going), ...kept];
}

function describe(name: string, going: readonly string[]): string {
  return `${name}: ${going.length > 0 ? `would go now: ${going.join(', ')}` : 'nothing would go now'}`;
}

/**
 * Every period in one line: whoever runs the command by hand sees which settings it has.
 *
 * @param isSet whether a setting of this name was given; the others have their defaults
 */
export function describePeriods(periods: RetentionPeriods, isSet: (name: string) => boolean): string {
  const kept = Object.entries(periods).map(
    ([name, ms]) => `${name} ${Number.isFinite(ms) ? `${ms / hourMs}h` : 'for ever'}${isSet(name) ? '' : ' (default)'}`,
  );
  return `Kept: ${kept.join(', ')}. A month of history, or a day of bodies, goes when its youngest rows are that old.`;
}
