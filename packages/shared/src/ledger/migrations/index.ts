import type { Migration } from 'kysely/migration';
import * as ledger from './2026-11-ledger.ts';

/** Every migration in order. Names are forever: a database remembers them. */
export const migrations: Record<string, Migration> = { '2026-11-ledger': ledger };
