import { createLoop, type Loop } from '@enterprise-api/shared/runtime';
import type { FanOut, OverdueResult } from './fan-out.ts';

/**
 * The promised time depends on this interval: see `overdueAfterMs` in fan-out.ts. An idle worker mostly runs the relay's
 * queries.
 */
const relayEveryMs = 1_000;
/** The relay runs again after this time. Usually an attempt ends sooner, frees capacity and wakes the relay. */
const soonMs = 100;
const relayDelaysMs: Record<OverdueResult, number> = {
  again: 0,
  // Writing deliveries faster than this process can send them would only take CPU time from sending.
  soon: soonMs,
  no_capacity: soonMs,
  all_visited: relayEveryMs,
};

export interface Relay extends Loop {
  capacityFreed(): void;
}

/**
 * Fans out events that no job has fanned out. So the outbox empties even if the queue loses every job. Runs again at
 * once while it finds events, and as soon as capacity is free for waiting events.
 */
export function createRelay(options: {
  fanOut: Pick<FanOut, 'fanOutOverdue'>;
  mayLease: () => boolean;
  onError: (error: unknown) => void;
}): Relay {
  let waitsForCapacity = false;
  const loop = createLoop({
    onError: options.onError,
    delayAfterErrorMs: relayEveryMs,
    run: async () => {
      if (!options.mayLease()) return relayEveryMs;
      waitsForCapacity = false;
      const result = await options.fanOut.fanOutOverdue();
      waitsForCapacity = result === 'no_capacity';
      return relayDelaysMs[result];
    },
  });
  return {
    ...loop,
    capacityFreed: () => {
      if (waitsForCapacity) loop.wake();
    },
  };
}
