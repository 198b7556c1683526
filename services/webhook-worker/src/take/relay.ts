import { createLoop, type Loop } from '../upkeep/loop.ts';
import { relayBatchSize } from './queries.ts';
import type { Taker } from './taker.ts';

const everyMs = 1_000;

/**
 * Takes what no job has brought: the queue may lose everything and the outbox still empties. Runs again at once while
 * it finds full batches.
 */
export function createRelay(options: {
  taker: Pick<Taker, 'takeOverdue'>;
  /** False while this process should not take on more. */
  mayTake: () => boolean;
  onError: (error: unknown) => void;
}): Loop {
  return createLoop({
    onError: options.onError,
    delayAfterErrorMs: everyMs,
    run: async () => {
      if (!options.mayTake()) return everyMs;
      const events = await options.taker.takeOverdue();
      return events >= relayBatchSize ? 0 : everyMs;
    },
  });
}
