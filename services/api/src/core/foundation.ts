import type { Clock, Closers, Logger } from '@enterprise-api/shared/runtime';

export interface Foundation {
  readonly log: Logger;
  readonly clock: Clock;
  readonly closers: Closers;
}

export const applicationName = 'enterprise-api';

/** A stop waits at most this long for a hanging statement or replica. */
export const closeWithinMs = 500;
