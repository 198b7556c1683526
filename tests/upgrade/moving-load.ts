import { setTimeout as pause } from 'node:timers/promises';
import { steadily, until } from '@enterprise-api/testkit';

/** Emits one event with this id of its producer's; rejects when it may not have been accepted. */
export type Emit = (key: string) => Promise<void>;

/** Emission at a steady rate, in ways that change while it goes on, as a load balancer and deployments change them. */
export interface MovingLoad extends AsyncDisposable {
  /** The ids that their producers gave to the events that were accepted. */
  readonly accepted: readonly string[];
  /** Why an event was not accepted at once: each was emitted again, with the same id. */
  readonly refusals: readonly string[];
  /** Emits in these ways from now on, in turn, or rests without any; resolves when no other is under way. */
  emitBy(...ways: readonly Emit[]): Promise<void>;
  /** Emits the newest of the accepted events once more, in each of these ways. */
  emitAgain(...ways: readonly Emit[]): Promise<void>;
  /** Resolves when so many more events are accepted. */
  accepts(count: number): Promise<void>;
  /** @throws when an event was never accepted */
  stop(): Promise<void>;
}

const perSecond = 20;
const triesPerEvent = 30;

export function startMovingLoad(): MovingLoad {
  let ways: readonly Emit[] = [];
  let count = 0;
  const accepted: string[] = [];
  const refusals: string[] = [];
  const underWay: Emit[] = [];
  const load = steadily(perSecond, async () => {
    const way = ways[count % ways.length];
    if (!way) return;
    count += 1;
    const key = `upgrade-${count}`;
    underWay.push(way);
    try {
      await persistently(() => way(key), refusals);
      accepted.push(key);
    } finally {
      underWay.splice(underWay.indexOf(way), 1);
    }
  });
  return {
    accepted,
    refusals,
    emitBy: async (...next) => {
      ways = next;
      const isDone = () => underWay.every((way) => ways.includes(way));
      await until('nothing is emitted in the ways of before', isDone, { withinMs: 120_000 });
    },
    emitAgain: async (...again) => {
      for (const key of accepted.slice(-10)) for (const way of again) await persistently(() => way(key), refusals);
    },
    accepts: async (more) => {
      const enough = accepted.length + more;
      const holds = (found: number) => found >= enough;
      await until(`${enough} events accepted`, () => accepted.length, { holds, withinMs: 120_000 });
    },
    stop: load.stop,
    [Symbol.asyncDispose]: load[Symbol.asyncDispose],
  };
}

/** As a producer does: with the same id until it is accepted. */
async function persistently(emit: () => Promise<void>, refusals: string[]): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await emit();
    } catch (error) {
      refusals.push(error instanceof Error ? error.message : String(error));
      if (tries === triesPerEvent) throw error;
      await pause(200);
    }
  }
}
