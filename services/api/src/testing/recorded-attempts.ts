import type { AttemptError } from '@enterprise-api/shared/contracts';
import type { Database } from '@enterprise-api/shared/ledger';
import { newUuid, type Uuid } from '@enterprise-api/shared/runtime';
import { sql } from 'kysely';

export interface RecordedAttempt {
  webhookId: Uuid;
  at: Date;
  durationMs: number;
  error?: AttemptError;
  statusCode?: number;
  eventType?: string;
  deliveryId?: Uuid;
  /** Null unless the attempt is the first of its delivery. */
  lagMs?: number;
}

/** Writes a batch of attempts as a worker does, so that they are in the statistics but not counted yet. */
export async function recordAttempts(db: Database, attempts: readonly RecordedAttempt[]): Promise<void> {
  const column = (pick: (attempt: RecordedAttempt) => unknown) => attempts.map(pick);
  await sql`insert into uncounted_attempts (webhook_ids, delivery_ids, lags, event_types, errors, status_codes, started_at, durations,
      left_out)
    values (${column((a) => a.webhookId)}::uuid[], ${column((a) => a.deliveryId ?? newUuid())}::uuid[],
      ${column((a) => a.lagMs ?? null)}::int[], ${column((a) => a.eventType ?? 'batch.failed')}::text[],
      ${column((a) => a.error ?? null)}::text[], ${column((a) => a.statusCode ?? null)}::smallint[],
      ${column((a) => a.at.toISOString())}::timestamptz[], ${column((a) => a.durationMs)}::int[], '{}')`.execute(db);
}
