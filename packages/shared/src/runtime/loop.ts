/** A task that this process repeats, never twice at the same time. */
export interface Loop {
  start(): void;
  /** Starts the next run now, or as soon as the current one is done. */
  wake(): void;
  /** Prevents further runs; resolves when the current one is done. */
  stop(): Promise<void>;
}

export interface LoopOptions {
  /** @returns milliseconds until the next run */
  run: () => Promise<number>;
  onError: (error: unknown) => void;
  delayAfterErrorMs: number;
  /** From 0 to 1: every wait varies by ± 10 %, so that the runs of many processes spread. */
  random?: () => number;
}

export function createLoop({ run, onError, delayAfterErrorMs, random = Math.random }: LoopOptions): Loop {
  let timer: NodeJS.Timeout | undefined;
  let current: Promise<void> | undefined;
  let isWoken = false;
  let isStopped = true;
  const schedule = (delayMs: number) => {
    if (!isStopped) timer = setTimeout(begin, delayMs * (0.9 + random() * 0.2));
  };
  const begin = () => {
    isWoken = false;
    current = run()
      .catch((error: unknown) => {
        onError(error);
        return delayAfterErrorMs;
      })
      .then((delayMs) => {
        current = undefined;
        schedule(isWoken ? 0 : delayMs);
      });
  };
  return {
    start: () => {
      isStopped = false;
      schedule(0);
    },
    wake: () => {
      // Setting the timer anew at every call would delay the run for as long as calls keep coming.
      if (isWoken) return;
      isWoken = true;
      if (current !== undefined || isStopped) return;
      clearTimeout(timer);
      schedule(0);
    },
    stop: async () => {
      isStopped = true;
      clearTimeout(timer);
      await current;
    },
  };
}
