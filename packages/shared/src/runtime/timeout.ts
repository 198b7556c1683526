const timedOut = Symbol('timed out');

/**
 * The result of `work`, or of `onTimeout` when `work` has not settled after `ms`. The work itself goes on: what it does
 * later is ignored, also when it rejects.
 *
 * @param onTimeout returns the value to go on with, or throws
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

/** If this process itself was held up, an answer may already lie in a socket: polls the sockets once before it judges. */
export function afterPoll(judge: () => void): void {
  setImmediate(() => setImmediate(judge));
}

/** @returns whether `work` settled, either way, within `ms` */
export async function settledWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  const results = await withTimeout(Promise.allSettled([work]), ms, () => null);
  return results !== null;
}
