import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { internalApiOf } from '../internal/client.ts';
import type { DatabaseLocks, DatabaseSizes, DatabaseStatements } from '../internal/types.ts';
import type { Column } from '../output/table.ts';
import {
  connectionColumns,
  leasedOftenColumns,
  outboxColumns,
  overdueColumns,
  parkedColumns,
  sessionColumns,
  slowestColumns,
  tableColumns,
} from '../present/database.ts';
import { bytes, count, time } from '../present/format.ts';
import type { GlobalOptions } from '../settings/settings.ts';
import { action } from './action.ts';

const howToEnd = `To end a session, stop its program, or run: psql "$DATABASE_URL" -c 'select pg_terminate_backend(<PID>)'`;

type Open = (options: GlobalOptions) => Context;

/** The API asks the database, so that operators need no `psql`. */
export function addDatabaseCommands(ops: Command, open: Open): void {
  ops
    .command('locks')
    .description('show the database sessions that wait for locks or hold them for long')
    .action(
      action(open, async (context) => {
        const locks = await internalApiOf(context).get<DatabaseLocks>('/internal/v1/database/locks');
        context.printer.object(locks, [
          ['at', time(locks.at)],
          ['sessions', count(locks.sessions.length)],
        ]);
        context.printer.section('Sessions', locks.sessions, sessionColumns);
        if (locks.sessions.length > 0) context.printer.note(howToEnd);
      }),
    );
  ops
    .command('statements')
    .description('show our database connections, their activity, and our slowest statements')
    .action(
      action(open, async (context) => {
        const found = await internalApiOf(context).get<DatabaseStatements>('/internal/v1/database/statements');
        context.printer.object(found, [
          ['at', time(found.at)],
          ['connections allowed', count(found.max_connections)],
        ]);
        context.printer.section('Connections', found.connections, connectionColumns);
        context.printer.section('Running', found.running, sessionColumns);
        if (found.slowest === null) context.printer.note(`No slowest statements: ${found.slowest_missing}`);
        else context.printer.section('Slowest', found.slowest, slowestColumns);
      }),
    );
  ops
    .command('sizes')
    .description('show the sizes of our tables, and the organizations and webhooks with the largest backlogs')
    .action(action(open, async (context) => showSizes(context)));
}

async function showSizes(context: Context): Promise<void> {
  const { printer } = context;
  const sizes = await internalApiOf(context).get<DatabaseSizes>('/internal/v1/database/sizes');
  printer.object(sizes, [
    ['at', time(sizes.at)],
    ['database', bytes(sizes.bytes)],
  ]);
  const show = <Row>(title: string, rows: readonly Row[] | null, columns: readonly Column<Row>[]) =>
    rows === null ? printer.note(`${title}: did not answer in time.`) : printer.section(title, rows, columns);
  show('Tables', sizes.tables, tableColumns);
  show('Events not fanned out', sizes.outbox, outboxColumns);
  show('Overdue deliveries', sizes.overdue, overdueColumns);
  show('Deliveries leased more than three times', sizes.leased_often, leasedOftenColumns);
  show('Parked events', sizes.parked_events, parkedColumns);
}
