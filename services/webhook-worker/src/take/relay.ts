import { createLoop, type Loop } from '../upkeep/loop.ts';
import type { OverdueTake, Taker } from './taker.ts';

const everyMs = 1_000;
/** Until the next run. Room wakes the relay; should it come without a word, it looks again before long. */
const delays: Record<OverdueTake, number> = {
  go_on: 0,
  saw_all: everyMs,
  // To the next hundred organizations, when those before had only events that are still young.
  saw_some: 100,
  no_room: 100,
};

/** The relay, and who wakes it. */
export interface Relay extends Loop {
  /** There is room again for what was left in the outbox. */
  hasRoom(): void;
}

/**
 * Takes what no job has brought: the queue may lose everything and the outbox still empties. Runs again at once while
 * it finds any, and as soon as there is room for events that had to wait.
 */
export function createRelay(options: {
  taker: Pick<Taker, 'takeOverdue' | 'isOwing'>;
  /** False while this process should not take on more. */
  mayTake: () => boolean;
  onError: (error: unknown) => void;
}): Relay {
  const loop = createLoop({
    onError: options.onError,
    delayAfterErrorMs: everyMs,
    run: async () => (options.mayTake() ? delays[await options.taker.takeOverdue()] : everyMs),
  });
  return {
    ...loop,
    hasRoom: () => {
      if (options.taker.isOwing) loop.wake();
    },
  };
}
