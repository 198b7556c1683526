const tries = 3;

/**
 * Measures what a promise limits (a time, say), three times at most, and returns the lowest figure. A machine that stalls
 * spoils one measurement; code that breaks the promise spoils all of them.
 *
 * @param limit a figure up to this ends the measuring
 * @param measure must find the same situation each time. An error ends the measuring: only the figure may be tried again
 */
export async function lowest(limit: number, measure: (nth: number) => Promise<number>): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let nth = 1; nth <= tries && least > limit; nth++) least = Math.min(least, await measure(nth));
  return least;
}

/** The time that some work takes, in milliseconds. */
export async function elapsedMs(work: () => PromiseLike<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}
