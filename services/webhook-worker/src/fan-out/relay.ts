import { createLoop, type Loop } from '@enterprise-api/shared/runtime';
import type { OverdueTake, Taker } from './fan-out.ts';

const everyMs = 1_000;
/** Until the next run. */
const delays: Record<OverdueTake, number> = {
  go_on: 0,
  saw_all: everyMs,
  // To the next hundred organizations, when those before had only events that are still young.
  saw_some: 100,
  // Or as soon as an attempt ends and there is room; lines that are handed back say nothing.
  no_room: 100,
};

/** The relay, and who wakes it. */
export interface Relay extends Loop {
  /** There is room in the lanes. */
  hasRoom(): void;
}

/**
 * Takes what no job has brought: the queue may lose everything and the outbox still empties. Runs again at once while
 * it finds any, and as soon as there is room for events that had to wait.
 */
export function createRelay(options: {
  taker: Pick<Taker, 'takeOverdue'>;
  /** False while this process should not take on more. */
  mayTake: () => boolean;
  onError: (error: unknown) => void;
}): Relay {
  let waitsForRoom = false;
  const loop = createLoop({
    onError: options.onError,
    delayAfterErrorMs: everyMs,
    run: async () => {
      if (!options.mayTake()) return everyMs;
      waitsForRoom = false;
      const end = await options.taker.takeOverdue();
      waitsForRoom = end === 'no_room';
      return delays[end];
    },
  });
  return {
    ...loop,
    hasRoom: () => {
      if (waitsForRoom) loop.wake();
    },
  };
}
