import type { Database } from '@enterprise-api/shared/ledger';
import { untilLockWait } from '@enterprise-api/testkit';
import { sql } from 'kysely';

/**
 * The same database through a connection whose planner neither sorts nor keeps an order by chance, so that a statement
 * locks in an order only if it asks for that order.
 */
export function unsortedPlansUrl(url: string): string {
  const planned = new URL(url);
  const off = ['nestloop', 'mergejoin', 'indexscan', 'indexonlyscan', 'bitmapscan'].map(
    (name) => `-c enable_${name}=off`,
  );
  planned.searchParams.set('options', `${off.join(' ')} -c enable_sort=off`);
  return planned.href;
}

/**
 * Holds the first of some rows, starts a statement that locks them all, waits until it waits, and counts which of the
 * others it has locked already. None means that it locks in the order of the column, so two of its kind cannot deadlock.
 */
export async function countLockedBeyondFirst(
  db: Database,
  rows: {
    table: 'deliveries' | 'pending_deliveries' | 'webhook_health' | 'webhook_controls';
    column: 'id' | 'delivery_id' | 'webhook_id';
    ids: readonly string[];
  },
  run: () => Promise<unknown>,
): Promise<number> {
  const [first, ...others] = [...rows.ids].sort();
  const [table, column] = [sql.table(rows.table), sql.ref(rows.column)];
  const held = await db.transaction().execute(async (holder) => {
    await sql`select from ${table} where ${column} = ${first} for update`.execute(holder);
    const running = run();
    await untilLockWait(db);
    const free = await db
      .transaction()
      .execute((trx) =>
        sql`select from ${table} where ${column} = any(${others}::uuid[]) for update skip locked`.execute(trx),
      );
    return { running, locked: others.length - free.rows.length };
  });
  await held.running;
  return held.locked;
}
