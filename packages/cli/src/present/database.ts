import type { DatabaseSession, DatabaseSizes, DatabaseStatements } from '../internal/types.ts';
import type { Column } from '../output/table.ts';
import { bytes, count, orDash, time } from './format.ts';

/** The columns of a list that may be missing. */
type Columns<List extends readonly unknown[] | null> = Column<NonNullable<List>[number]>[];

const seconds = (number: number | null) => (number === null ? '-' : number.toFixed(1));

export const sessionColumns: Column<DatabaseSession>[] = [
  { title: 'PID', text: ({ pid }) => String(pid), align: 'right' },
  { title: 'APPLICATION', text: ({ application }) => orDash(application) },
  { title: 'STATE', text: ({ state }) => orDash(state) },
  { title: 'WAITS FOR', text: ({ waits_for }) => orDash(waits_for) },
  { title: 'BLOCKED BY', text: ({ blocked_by }) => orDash(blocked_by.join(' ')) },
  { title: 'TRANSACTION S', text: ({ transaction_seconds }) => seconds(transaction_seconds), align: 'right' },
  { title: 'STATEMENT S', text: ({ statement_seconds }) => seconds(statement_seconds), align: 'right' },
  { title: 'STATEMENT', text: ({ statement }) => orDash(statement), isElastic: true },
];

export const connectionColumns: Columns<DatabaseStatements['connections']> = [
  { title: 'APPLICATION', text: ({ application }) => orDash(application) },
  { title: 'STATE', text: ({ state }) => orDash(state) },
  { title: 'CONNECTIONS', text: (row) => count(row.count), align: 'right' },
];

export const slowestColumns: Columns<DatabaseStatements['slowest']> = [
  { title: 'TOTAL MS', text: ({ total_ms }) => count(Math.round(total_ms)), align: 'right' },
  { title: 'MEAN MS', text: ({ mean_ms }) => mean_ms.toFixed(2), align: 'right' },
  { title: 'CALLS', text: ({ calls }) => count(calls), align: 'right' },
  { title: 'ROWS', text: ({ rows }) => count(rows), align: 'right' },
  { title: 'DISK BLOCKS', text: ({ disk_blocks }) => count(disk_blocks), align: 'right' },
  { title: 'STATEMENT', text: ({ statement }) => statement, isElastic: true },
];

export const tableColumns: Columns<DatabaseSizes['tables']> = [
  { title: 'TABLE', text: ({ name }) => name },
  { title: 'SIZE', text: (row) => bytes(row.bytes), align: 'right' },
  { title: 'INDEXES', text: ({ index_bytes }) => bytes(index_bytes), align: 'right' },
  { title: 'ROWS', text: ({ rows }) => count(rows), align: 'right' },
  { title: 'DEAD', text: ({ dead_rows }) => count(dead_rows), align: 'right' },
  { title: 'PARTITIONS', text: ({ partitions }) => count(partitions), align: 'right' },
  { title: 'OLDEST', text: ({ oldest_partition }) => orDash(oldest_partition) },
  { title: 'NEWEST', text: ({ newest_partition }) => orDash(newest_partition) },
  { title: 'VACUUMED (UTC)', text: ({ vacuumed_at }) => time(vacuumed_at) },
  { title: 'ANALYZED (UTC)', text: ({ analyzed_at }) => time(analyzed_at) },
];

export const outboxColumns: Columns<DatabaseSizes['outbox']> = [
  { title: 'ORGANIZATION', text: ({ organization_id }) => organization_id },
  { title: 'EVENTS', text: ({ events }) => count(events), align: 'right' },
  { title: 'OLDEST (UTC)', text: ({ oldest_at }) => time(oldest_at) },
];

export const overdueColumns: Columns<DatabaseSizes['overdue']> = [
  { title: 'WEBHOOK', text: ({ webhook_id }) => webhook_id },
  { title: 'ORGANIZATION', text: ({ organization_id }) => organization_id },
  { title: 'DELIVERIES', text: ({ deliveries }) => count(deliveries), align: 'right' },
  { title: 'DUE SINCE (UTC)', text: ({ due_since }) => time(due_since) },
];

export const leasedOftenColumns: Columns<DatabaseSizes['leased_often']> = [
  { title: 'DELIVERY', text: ({ delivery_id }) => delivery_id },
  { title: 'LEASES', text: ({ leases }) => count(leases), align: 'right' },
];

export const parkedColumns: Columns<DatabaseSizes['parked_events']> = [
  { title: 'EVENT', text: ({ event_id }) => event_id },
  { title: 'ORGANIZATION', text: ({ organization_id }) => organization_id },
  { title: 'REASON', text: ({ reason }) => reason },
  { title: 'FAILURES', text: ({ failures }) => count(failures), align: 'right' },
  { title: 'RETRIED (UTC)', text: ({ retry_at }) => time(retry_at) },
];
