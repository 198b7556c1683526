/** Something done again and again by this process, never twice at once. */
export interface Loop {
  start(): void;
  /** Runs as soon as the current run, if any, is done. */
  wake(): void;
  /** Resolves when the current run is done; no other follows. */
  stop(): Promise<void>;
}

export interface LoopOptions {
  /** One run. @returns milliseconds until the next one */
  run: () => Promise<number>;
  onError: (error: unknown) => void;
  delayAfterErrorMs: number;
  /** Spreads the runs of many processes; the default is the jitter of chance, ± 10 %. */
  random?: () => number;
}

export function createLoop({ run, onError, delayAfterErrorMs, random = Math.random }: LoopOptions): Loop {
  let timer: NodeJS.Timeout | undefined;
  let current: Promise<void> | undefined;
  let wanted = false;
  let stopped = true;

  const schedule = (delayMs: number) => {
    if (!stopped) timer = setTimeout(begin, delayMs * (0.9 + random() * 0.2));
  };
  const begin = () => {
    wanted = false;
    current = run()
      .catch((error: unknown) => {
        onError(error);
        return delayAfterErrorMs;
      })
      .then((delayMs) => {
        current = undefined;
        schedule(wanted ? 0 : delayMs);
      });
  };
  return {
    start: () => {
      stopped = false;
      schedule(0);
    },
    wake: () => {
      // Woken already: moving the timer again at every call would put the run off for as long as calls keep coming.
      if (wanted) return;
      wanted = true;
      if (current !== undefined || stopped) return;
      clearTimeout(timer);
      schedule(0);
    },
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      await current;
    },
  };
}
