import type { Generated } from 'kysely';
import type { Uuid } from '../runtime/ids.ts';

/** The attempts of a webhook that started in one minute, hour or day, by event type and result. */
export interface WebhookCountsTable {
  /** Or its organization: each attempt is counted for both. */
  webhook_id: Uuid;
  level: 'minute' | 'hour' | 'day';
  start: Date;
  event_type: string;
  /** Empty if the attempts succeeded. */
  error: string;
  /** 0 if the attempts succeeded or got no answer. */
  status_code: number;
  /** Numbers of buckets (see `bucketOf`). For each, `durations` counts all attempts, and `lags` the first ones. */
  buckets: number[];
  durations: number[];
  lags: number[];
  /** When the newest of the attempts started, and its delivery if it failed. */
  last_at: Date;
  last_delivery_id: Uuid | null;
}

type Maybe<Value> = Value | null;

/** Recorded attempts that are not in `webhook_counts` yet. The n-th elements of the arrays describe one attempt. */
export interface UncountedAttemptsTable {
  recorded_at: Generated<Date>;
  webhook_ids: Uuid[];
  delivery_ids: Uuid[];
  /** The event if this is the first attempt of its delivery. */
  first_of: Maybe<Uuid>[];
  event_types: string[];
  errors: Maybe<string>[];
  status_codes: Maybe<number>[];
  started_at: Date[];
  durations: number[];
  /** Numbers of elements that statistics leave out, from 1. */
  left_out: number[];
}
