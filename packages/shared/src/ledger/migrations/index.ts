import type { Migration } from 'kysely/migration';
import * as ledger from './2026-11-ledger.ts';

/** All migrations in order. Names must never change: a database remembers them. */
export const migrations: Record<string, Migration> = { '2026-11-ledger': ledger };
