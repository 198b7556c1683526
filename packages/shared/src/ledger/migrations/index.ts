import type { Migration } from 'kysely/migration';
import * as ledger from './2026-11-ledger.ts';
import * as newLedger from './2026-12-ledger.ts';
import * as rows from './2026-12-rows.ts';

/**
 * All migrations, which run in the order of their names. Names must never change, because each database stores the
 * names of its applied migrations.
 */
export const migrations: Record<string, Migration> = {
  '2026-11-ledger': ledger,
  '2026-12-ledger': newLedger,
  '2026-12-rows': rows,
};
