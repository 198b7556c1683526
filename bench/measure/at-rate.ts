import { setTimeout as pause } from 'node:timers/promises';
import { nowMs } from '../clock.ts';

/**
 * Does something so many times a second, by the clock, without waiting for what it did before.
 *
 * @returns from when each was due until it was done, in milliseconds
 */
export async function atRate(
  perSecond: number,
  seconds: number,
  act: (index: number) => Promise<unknown>,
): Promise<{ dueAt: Float64Array; tookMs: Float64Array }> {
  const count = Math.round(perSecond * seconds);
  const dueAt = new Float64Array(count);
  const tookMs = new Float64Array(count);
  const startedAt = nowMs();
  const acts: Promise<void>[] = [];
  for (let index = 0; index < count; index++) {
    const due = startedAt + (index * 1_000) / perSecond;
    dueAt[index] = due;
    const waitMs = due - nowMs();
    if (waitMs > 0) await pause(waitMs);
    acts.push(
      act(index).then(() => {
        tookMs[index] = nowMs() - due;
      }),
    );
  }
  await Promise.all(acts);
  return { dueAt, tookMs };
}
