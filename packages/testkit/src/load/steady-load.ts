/** Something that is done at a steady rate until it is stopped. */
export interface SteadyLoad extends AsyncDisposable {
  /** Resolves when all that was begun is done. @throws the first error, if there was one */
  stop(): Promise<void>;
}

/**
 * Repeats a task at a steady rate. Repetitions that could not start in time are left out. With `await using`, a test that fails half
 * way does not leave its load behind.
 */
export function steadily(perSecond: number, act: () => Promise<void>): SteadyLoad {
  const running = new Set<Promise<void>>();
  const errors: unknown[] = [];
  const timer = setInterval(() => {
    const work = act()
      .catch((error: unknown) => void errors.push(error))
      .finally(() => running.delete(work));
    running.add(work);
  }, 1_000 / perSecond);
  const end = async () => {
    clearInterval(timer);
    await Promise.all(running);
  };
  return {
    stop: async () => {
      await end();
      if (errors.length > 0) throw errors[0];
    },
    [Symbol.asyncDispose]: end,
  };
}
