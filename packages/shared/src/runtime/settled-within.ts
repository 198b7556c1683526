/**
 * Waits for work to settle, one way or the other, and no longer than that. For stops: what hangs there must not hold up
 * the rest.
 *
 * @returns whether it settled in time
 */
export async function settledWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, ms, false);
  });
  const settled = work.then(
    () => true as const,
    () => true as const,
  );
  const inTime = await Promise.race([settled, late]);
  clearTimeout(timer);
  return inTime;
}
