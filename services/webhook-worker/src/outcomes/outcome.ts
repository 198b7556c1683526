import type { AttemptError } from '@enterprise-api/shared/contracts';
import type { Uuid } from '@enterprise-api/shared/runtime';

/** The result of one attempt. Made when the attempt ends, recorded in a batch a few milliseconds later. */
export interface Outcome {
  deliveryId: Uuid;
  webhookId: Uuid;
  round: number;
  /** A UUID whose time bits are those of `startedAt`. */
  attemptId: Uuid;
  number: number;
  /** `stop`: no further attempt, whatever the schedule says. */
  result: 'delivered' | 'retry' | 'stop';
  /** Until the next attempt, if there is one. */
  delayMs: number;
  /** `Retry-After`, if the receiver sent one: opens the circuit of its webhook for that long, at most ten minutes. */
  openCircuitForMs: number | null;
  /** Whether the failure counts towards disabling the webhook, and whether towards opening its circuit. */
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

/** What recording a batch changed, beyond its rows. */
export interface Recorded {
  /** Webhooks that have failed for days and are to be disabled. */
  failing: string[];
  /** Webhooks with failures whose circuit is open now. */
  circuitOpened: string[];
}
