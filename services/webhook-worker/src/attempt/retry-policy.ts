/** A receiver may ask for a pause of at most this long. */
export const maxRetryAfterMs = 24 * 60 * 60 * 1_000;

export type RetryPolicy = {
  /** Base delays of a round: after its first attempt, its second, … A round has one attempt more than delays. */
  delaysMs: readonly number[];
  /** A delay is base × (1 + random 0…jitter): later than asked for, never earlier. */
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
 * Milliseconds until the next attempt, or null when the round is over. The receiver's wish counts when it is later
 * than the schedule, and is not jittered: it named a time.
 *
 * @param random 0 ≤ random < 1
 */
export function nextDelayMs(policy: RetryPolicy, attempt: FailedAttempt, random: number): number | null {
  if (attempt.number >= attempt.maxAttempts) return null;
  const scheduled = jittered(baseDelayMs(policy.delaysMs, attempt), policy.jitter, random);
  return Math.max(scheduled, Math.min(attempt.retryAfterMs ?? 0, maxRetryAfterMs));
}

/**
 * The place of an attempt in its round counts back from the round's end. When the schedule was made longer or shorter
 * since the round began, that can lie outside: then the first or the last delay holds.
 */
function baseDelayMs(delaysMs: readonly number[], { number, maxAttempts }: FailedAttempt): number {
  const place = number - (maxAttempts - (delaysMs.length + 1));
  const index = Math.min(Math.max(place, 1), delaysMs.length) - 1;
  return delaysMs[index] ?? 0;
}

function jittered(baseMs: number, jitter: number, random: number): number {
  return Math.ceil(baseMs * (1 + jitter * random));
}
