import { createLoop, type Loop } from '@enterprise-api/shared/runtime';
import type { FanOut, OverdueResult } from './fan-out.ts';

const everyMs = 1_000;

/** Until the next run. */
const delaysMs: Record<OverdueResult, number> = {
  again: 0,
  all_visited: everyMs,
  // The next hundred organizations follow soon: those of this run may have only events that are still young.
  some_visited: 100,
  // Capacity usually becomes free when an attempt ends, which wakes the relay. Releasing leases does not wake it.
  no_capacity: 100,
};

export interface Relay extends Loop {
  /** Capacity has become free: runs now if the relay waits for capacity. */
  capacityFreed(): void;
}

/**
 * Fans out what no job has brought: the queue may lose everything and the outbox still empties. Runs again at once while
 * it finds events, and as soon as there is capacity for events that had to wait.
 */
export function createRelay(options: {
  fanOut: Pick<FanOut, 'fanOutOverdue'>;
  /** False while this process should lease no further deliveries. */
  mayLease: () => boolean;
  onError: (error: unknown) => void;
}): Relay {
  let waitsForCapacity = false;
  const loop = createLoop({
    onError: options.onError,
    delayAfterErrorMs: everyMs,
    run: async () => {
      if (!options.mayLease()) return everyMs;
      waitsForCapacity = false;
      const result = await options.fanOut.fanOutOverdue();
      waitsForCapacity = result === 'no_capacity';
      return delaysMs[result];
    },
  });
  return {
    ...loop,
    capacityFreed: () => {
      if (waitsForCapacity) loop.wake();
    },
  };
}
