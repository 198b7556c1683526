import type { Generated } from 'kysely';
import type { Uuid } from '../runtime/ids.ts';

/** The attempts of a webhook that started in one minute, hour or day, by event type and result. */
export interface WebhookCountsTable {
  /** The webhook or its organization: each attempt is counted for both. */
  webhook_id: Uuid;
  level: 'minute' | 'hour' | 'day';
  start: Date;
  event_type: string;
  /** Empty if the attempts succeeded. */
  error: string;
  /** 0 if the attempts succeeded or got no answer. */
  status_code: number;
  /** A duration's bucket is a position in `attemptBuckets`. Lags, of first attempts only, begin at `firstLagBucket`. */
  buckets: number[];
  /** The n-th count belongs to the n-th bucket. */
  counts: number[];
  /** When the newest attempt started, and its delivery if the attempt failed. */
  last_at: Date;
  last_delivery_id: Uuid | null;
}

type Maybe<Value> = Value | null;

/** Recorded attempts that are not in `webhook_counts` yet. The n-th elements of the arrays describe one attempt. */
export interface UncountedAttemptsTable {
  recorded_at: Generated<Date>;
  webhook_ids: Uuid[];
  delivery_ids: Uuid[];
  /** Of first attempts: milliseconds from the acceptance of the event to the start of the attempt. Null for others. */
  lags: Maybe<number>[];
  event_types: string[];
  errors: Maybe<string>[];
  status_codes: Maybe<number>[];
  started_at: Date[];
  durations: number[];
  /** The positions, from 1, of the elements that statistics leave out. */
  left_out: number[];
}
