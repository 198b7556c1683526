import type { AttemptError } from '@enterprise-api/shared/contracts';
import type { Uuid } from '@enterprise-api/shared/runtime';

/** What is to be recorded of one attempt. Made when the attempt ended, written in a batch a few ms later. */
export interface Outcome {
  deliveryId: Uuid;
  webhookId: Uuid;
  round: number;
  /** Its time bits are those of `startedAt`. */
  attemptId: Uuid;
  number: number;
  /** `stop`: no further attempt whatever the schedule says. */
  result: 'delivered' | 'retry' | 'stop';
  /** Until the next attempt, if there is one. */
  delayMs: number;
  /** How long the receiver asked to be left alone; holds the whole webhook for 10 min at most. */
  holdMs: number | null;
  /** Whether the failure counts towards disabling the webhook, and whether towards its breaker. */
  countsForHealth: boolean;
  countsForBreaker: boolean;
  manual: boolean;
  startedAt: Date;
  durationMs: number;
  statusCode: number | null;
  error: AttemptError | null;
  errorMessage: string | null;
  excerpt: string | null;
  webhookVersion: number;
  timings: {
    dns_ms: number | null;
    connect_ms: number | null;
    tls_ms: number | null;
    first_byte_ms: number | null;
  };
}

/** What recording changed, beyond the rows. */
export interface Recorded {
  /** Webhooks that have failed for days and are to be disabled. */
  failing: string[];
  /** Webhooks whose breaker is open now, and for how much longer. */
  held: { webhookId: Uuid; forMs: number }[];
}
