export const maxRetryAfterMs = 24 * 60 * 60 * 1_000;

export type RetryPolicy = {
  /** Base delays after the first, second, … attempt of a round. A round has one attempt more than it has delays. */
  delaysMs: readonly number[];
  /** A delay is base × (1 + random 0…jitter), so it is never shorter than its base. */
  jitter: number;
};

export type FailedAttempt = {
  /** The failed attempt's number. Numbers continue through all rounds of a delivery. */
  number: number;
  /** The number of the round's last attempt. */
  maxAttempts: number;
  retryAfterMs: number | null;
};

/**
 * Returns the milliseconds until the next attempt, or null when the round is over. If `Retry-After` is later than the
 * schedule, `Retry-After` applies without jitter, because the receiver named a time.
 *
 * @param random 0 ≤ random < 1
 */
export function nextDelayMs(policy: RetryPolicy, attempt: FailedAttempt, random: number): number | null {
  if (attempt.number >= attempt.maxAttempts) return null;
  const scheduled = jittered(baseDelayMs(policy.delaysMs, attempt), policy.jitter, random);
  return Math.max(scheduled, Math.min(attempt.retryAfterMs ?? 0, maxRetryAfterMs));
}

/**
 * Counts an attempt's position back from the end of its round. If the schedule changed its length since the round
 * began, the position can be out of range. Then the first or the last delay applies.
 */
function baseDelayMs(delaysMs: readonly number[], { number, maxAttempts }: FailedAttempt): number {
  const position = number - (maxAttempts - (delaysMs.length + 1));
  const index = Math.min(Math.max(position, 1), delaysMs.length) - 1;
  return delaysMs[index] ?? 0;
}

function jittered(baseMs: number, jitter: number, random: number): number {
  return Math.ceil(baseMs * (1 + jitter * random));
}
