import type { Database } from '@enterprise-api/shared/ledger';
import type { RetentionPeriods } from './settings.ts';

/** What a run tells of what it does. */
export interface RetentionLog {
  info: (fields: Record<string, unknown>, message: string) => void;
  warn: (fields: Record<string, unknown>, message: string) => void;
}

export interface RetentionRun {
  /** One connection, which has the lock. */
  db: Database;
  periods: RetentionPeriods;
  log: RetentionLog;
  /** Ends the run between two statements. What it has begun is finished by the next one. */
  signal: AbortSignal;
}
