import type { DeliveryStatus, WaitingFor } from '@enterprise-api/shared/contracts';
import type { Row } from '@enterprise-api/shared/ledger';

/** A delivery as it is shown; `status` is the effective one. */
export interface DeliveryRow
  extends Pick<
    Row<'deliveries'>,
    | 'id'
    | 'webhook_id'
    | 'event_id'
    | 'event_type'
    | 'attempt_count'
    | 'max_attempts'
    | 'last_status_code'
    | 'last_error'
    | 'last_duration_ms'
    | 'created_at'
    | 'completed_at'
  > {
  status: DeliveryStatus;
  /** Null when there will be no further attempt. */
  next_attempt_at: Date | null;
  waiting_for: WaitingFor | null;
}

/** An attempt, and the URL that the webhook had when it was sent. */
export interface AttemptRow extends Row<'all_attempts'> {
  url: string;
}
