import type { AttemptError, EventType } from '@enterprise-api/shared/contracts';
import type { Uuid } from '@enterprise-api/shared/runtime';

export interface Outcome {
  deliveryId: Uuid;
  webhookId: Uuid;
  eventType: EventType;
  round: number;
  /** A UUID whose time is `startedAt`. */
  attemptId: Uuid;
  number: number;
  /** `stop` and `abort` end the delivery, even if the retry schedule has more. `stop` also disables the webhook. */
  result: 'delivered' | 'retry' | 'stop' | 'abort';
  /** Time until the next attempt; 0 if the schedule has no further attempt. */
  delayMs: number;
  /** For how long the receiver holds the whole webhook, at most an hour; or null. */
  holdForMs: number | null;
  /** Whether the failure counts towards disabling the webhook (health), and towards opening its circuit (breaker). */
  countsForHealth: boolean;
  countsForBreaker: boolean;
  manual: boolean;
  startedAt: Date;
  durationMs: number;
  /** From the acceptance of the event to `startedAt`, at most 20 days. Null unless this is the first attempt. */
  lagMs: number | null;
  statusCode: number | null;
  error: AttemptError | null;
  errorMessage: string | null;
  excerpt: string | null;
  /** Null, like the headers, if the attempt succeeded. */
  remoteAddress: string | null;
  responseHeaders: Record<string, string> | null;
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
  /** Webhooks that failed in this batch and whose circuit is now open. */
  circuitOpened: string[];
}
