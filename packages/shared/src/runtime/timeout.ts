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
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<typeof timedOut>((resolve) => {
    timer = setTimeout(() => afterPoll(() => resolve(timedOut)), ms);
  });
  try {
    const first = await Promise.race([work, late]);
    return first === timedOut ? onTimeout() : first;
  } finally {
    clearTimeout(timer);
  }
}

/** If this process itself was held up, an answer may already lie in a socket: polls the sockets once before it judges. */
export function afterPoll(judge: () => void): void {
  setImmediate(() => setImmediate(judge));
}

const timedOut = Symbol('timed out');

/**
 * Waits until `work` settles, either way, and at most `ms`. For stops and questions whose failure counts as no answer.
 *
 * @returns whether it settled in time
 */
export function settledWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  const settled = work.then(
    () => true,
    () => true,
  );
  return withTimeout(settled, ms, () => false);
}
