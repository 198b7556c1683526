import { setTimeout as pause } from 'node:timers/promises';

export interface UntilOptions<Answer> {
  /** Whether this answer is the one waited for; by default, whether it is truthy. */
  holds?: (answer: Answer) => boolean;
  /** The bound; 60 s by default: a slow machine makes a test slower, not red. */
  withinMs?: number;
  /** The pause between two questions; 20 ms by default. */
  everyMs?: number;
  /** Ends the wait, with its reason as the error. */
  signal?: AbortSignal;
}

/**
 * Asks again and again until the answer is the one waited for, and returns it. A question that throws (a database that
 * is away) is asked again like one with another answer.
 *
 * @param what the condition in words, for the error
 * @throws when the bound is reached, with the last answer or the last error
 */
export async function until<Answer>(
  what: string,
  ask: () => Answer | Promise<Answer>,
  options: UntilOptions<Answer> = {},
): Promise<Answer> {
  const { holds = Boolean, withinMs = 60_000, everyMs = 20, signal } = options;
  const deadline = performance.now() + withinMs;
  for (;;) {
    const last = await attempt(ask);
    if (last.ok && holds(last.answer)) return last.answer;
    if (performance.now() > deadline) {
      const found = last.ok ? JSON.stringify(last.answer)?.slice(0, 2_000) : String(last.error);
      throw new Error(
        `Not within ${withinMs / 1_000} s: ${what}. Last: ${found}`,
        last.ok ? {} : { cause: last.error },
      );
    }
    signal?.throwIfAborted();
    await pause(everyMs);
  }
}

type Attempt<Answer> = { ok: true; answer: Answer } | { ok: false; error: unknown };

async function attempt<Answer>(ask: () => Answer | Promise<Answer>): Promise<Attempt<Answer>> {
  try {
    return { ok: true, answer: await ask() };
  } catch (error) {
    return { ok: false, error };
  }
}
