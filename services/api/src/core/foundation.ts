import type { Clock, Closers, Logger } from '@enterprise-api/shared/runtime';

export interface Foundation {
  readonly log: Logger;
  readonly clock: Clock;
  readonly closers: Closers;
}

export const applicationName = 'enterprise-api';
