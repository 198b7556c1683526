const timedOut = Symbol('timed out');

/**
 * Returns the result of `work`, or of `onTimeout` if `work` has not settled after `ms`. The work continues; its later
 * result or rejection is ignored.
 *
 * @param onTimeout returns a substitute value, or throws
 * @throws what `work` or `onTimeout` throws
 */
export async function withTimeout<Result, Otherwise>(
  work: Promise<Result>,
  ms: number,
  onTimeout: () => Otherwise,
): Promise<Result | Otherwise> {
  const late = Promise.withResolvers<typeof timedOut>();
  const timer = setTimeout(() => afterPoll(() => late.resolve(timedOut)), ms);
  try {
    const first = await Promise.race([work, late.promise]);
    return first === timedOut ? onTimeout() : first;
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Polls the sockets once before `judge` runs, because a socket may already hold an answer if this process was delayed.
 */
export function afterPoll(judge: () => void): void {
  setImmediate(() => setImmediate(judge));
}

/** @returns true if `work` resolved or rejected within `ms` */
export async function settledWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  const results = await withTimeout(Promise.allSettled([work]), ms, () => null);
  return results !== null;
}
