import type { Script } from './calls.ts';

/** Decides what a request is answered with; 0: nothing. */
export type Behaviour = (webhook: number, attempt: number) => number;

export function createBehaviour(script: Script): Behaviour {
  const failing = new Set(script.failing);
  const hanging = new Set(script.hanging);
  const every = script.failFirstAttemptsEvery ?? 0;
  // By webhook: counted over all, deliveries that go round and round would always fail at the same ones.
  const firstAttempts = new Map<number, number>();
  return (webhook, attempt) => {
    if (hanging.has(webhook)) return 0;
    if (failing.has(webhook)) return 503;
    if (every === 0 || attempt !== 1) return 200;
    const count = (firstAttempts.get(webhook) ?? webhook) + 1;
    firstAttempts.set(webhook, count);
    return count % every === 0 ? 503 : 200;
  };
}
