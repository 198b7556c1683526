import { createLoop, type Loop } from '../upkeep/loop.ts';
import type { Taker } from './taker.ts';

const everyMs = 1_000;
/** To the next hundred organizations, when those before had only events that are still young. */
const nextPageMs = 100;

/**
 * Takes what no job has brought: the queue may lose everything and the outbox still empties. Runs again at once while
 * it finds any.
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
      const { events, sawAll } = await options.taker.takeOverdue();
      if (events > 0) return 0;
      return sawAll ? everyMs : nextPageMs;
    },
  });
}
