import type { Script } from './calls.ts';

/** The status that a request is answered with; 0: no answer. */
export type Behaviour = (webhook: number, attempt: number) => number;

export function createBehaviour(script: Script): Behaviour {
  const failing = new Set(script.failing);
  const hanging = new Set(script.hanging);
  const every = script.failFirstAttemptsEvery ?? 0;
  // Counted for each webhook: counted over all, deliveries in a fixed order would always fail at the same webhooks.
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
