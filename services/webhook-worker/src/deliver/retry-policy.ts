/** A longer `Retry-After` counts as this. */
export const maxRetryAfterMs = 24 * 60 * 60 * 1_000;

export type RetryPolicy = {
  /** Base delays of a round: after its first attempt, its second, … A round has one attempt more than delays. */
  delaysMs: readonly number[];
  /** A delay is base × (1 + random 0…jitter): never shorter than its base. */
  jitter: number;
};

export type FailedAttempt = {
  /** The number of the attempt that failed; attempts count on through all rounds of a delivery. */
  number: number;
  /** The number of the last attempt of its round. */
  maxAttempts: number;
  /** What the receiver asked for in this answer ({@link parseRetryAfter}). */
  retryAfterMs: number | null;
};

/**
 * Milliseconds until the next attempt, or null when the round is over. `Retry-After` counts when it is later than the
 * schedule, without jitter: the receiver named a time.
 *
 * @param random 0 ≤ random < 1
 */
export function nextDelayMs(policy: RetryPolicy, attempt: FailedAttempt, random: number): number | null {
  if (attempt.number >= attempt.maxAttempts) return null;
  const scheduled = jittered(baseDelayMs(policy.delaysMs, attempt), policy.jitter, random);
  return Math.max(scheduled, Math.min(attempt.retryAfterMs ?? 0, maxRetryAfterMs));
}

/**
 * The position of an attempt in its round is counted back from the round's end. When the schedule has been made longer or
 * shorter since the round began, the position can lie outside it: then the first or the last delay is used.
 */
function baseDelayMs(delaysMs: readonly number[], { number, maxAttempts }: FailedAttempt): number {
  const position = number - (maxAttempts - (delaysMs.length + 1));
  const index = Math.min(Math.max(position, 1), delaysMs.length) - 1;
  return delaysMs[index] ?? 0;
}

function jittered(baseMs: number, jitter: number, random: number): number {
  return Math.ceil(baseMs * (1 + jitter * random));
}
