import type { AttemptError } from '@enterprise-api/shared/contracts';
import type { Uuid } from '@enterprise-api/shared/runtime';

export interface Outcome {
  deliveryId: Uuid;
  webhookId: Uuid;
  round: number;
  /** A UUID with the time of `startedAt`. */
  attemptId: Uuid;
  number: number;
  /** `stop`: no further attempt, whatever the schedule says. */
  result: 'delivered' | 'retry' | 'stop';
  /** Until the next attempt; 0 if the schedule has none. */
  delayMs: number;
  /** The receiver's `Retry-After`, or null. It opens the webhook's circuit for that long, at most ten minutes. */
  openCircuitForMs: number | null;
  /** Whether the failure counts towards disabling the webhook (health), and towards opening its circuit (breaker). */
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

export interface Recorded {
  failing: string[];
  /** Webhooks with failures and an open circuit. */
  circuitOpened: string[];
}
