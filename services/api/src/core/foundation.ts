import type { Clock, Closers, Logger } from '@enterprise-api/shared/runtime';

/** What the parts of the process are built with at start. */
export interface Foundation {
  readonly log: Logger;
  readonly clock: Clock;
  /** Run in reverse when the process stops. */
  readonly closers: Closers;
}

export const applicationName = 'enterprise-api';

/** How long the stop of the process waits for a statement that hangs, or for a replica. */
export const closeWithinMs = 500;
