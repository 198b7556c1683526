import { bodiesTable, type Database, databaseTime } from '@enterprise-api/shared/ledger';
import { expiryOf, startOfEventKeys, startOfHistory } from './partitions.ts';
import { countPending, listPartitions, tables } from './queries.ts';
import type { RetentionPeriods } from './settings.ts';

const hourMs = 60 * 60_000;

export async function planRetention(db: Database, periods: RetentionPeriods): Promise<string[]> {
  const now = (await databaseTime(db)).getTime();
  const partitions = (await listPartitions(db)).map((each) => ({ ...each, expiry: expiryOf(each, periods) }));
  const lines: string[] = [];
  for (const table of tables) {
    const ofTable = partitions.filter((partition) => partition.table === table);
    const going: string[] = [];
    const kept: string[] = [];
    for (const partition of ofTable.filter(({ expiry }) => expiry <= now)) {
      const pending = await countPending(db, partition);
      const others = table === bodiesTable ? '; all other bodies would be removed' : '';
      if (pending === 0) going.push(partition.name);
      else kept.push(`  ${partition.name} is kept: ${pending} pending in it${others}`);
    }
    lines.push(
      `${table}: ${going.length > 0 ? `would be removed now: ${going.join(', ')}` : 'nothing would be removed now'}`,
      ...kept,
    );
    const next = ofTable.find(({ expiry }) => expiry > now && Number.isFinite(expiry));
    if (next) lines.push(`  next: ${next.name}, from ${new Date(next.expiry).toISOString()} on`);
  }
  const historyFrom = startOfHistory(periods, now);
  return [
    ...lines,
    describe('event_keys', 'keys of events', startOfEventKeys(periods, now)),
    describe('replays', 'replays that ended', historyFrom),
    describe('webhook_counts', 'statistics of attempts', historyFrom),
    describe('deleted webhooks', 'webhooks without deliveries that were deleted', historyFrom),
    describe('audit_log', 'rows', now - periods.RETENTION_AUDIT),
  ];
}

function describe(name: string, what: string, before: number): string {
  return `${name}: ${before > 0 ? `would be removed now: ${what} before ${new Date(before).toISOString()}` : 'nothing would be removed now'}`;
}

/** @param isSet tells whether the operator gave a setting of this name; all other settings have their defaults */
export function describePeriods(periods: RetentionPeriods, isSet: (name: string) => boolean): string {
  const kept = Object.entries(periods).map(
    ([name, ms]) => `${name} ${Number.isFinite(ms) ? `${ms / hourMs}h` : 'forever'}${isSet(name) ? '' : ' (default)'}`,
  );
  return `Kept: ${kept.join(', ')}. Retention removes a month of history, or a day of bodies, when its youngest rows are that old.`;
}
