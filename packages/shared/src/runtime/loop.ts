/** A task that this process repeats, never twice at the same time. */
export interface Loop {
  start(): void;
  /** Starts the next run now, or once the current run ends, but not within `wakeFloorMs` of the last run's start. */
  wake(): void;
  /** Prevents further runs, aborts the signal of the current run, and resolves when that run ends. */
  stop(): Promise<void>;
}

export interface LoopOptions {
  /**
   * @param stopping aborts when the loop is stopped, so that a long run may end early
   * @returns milliseconds until the next run, if not `everyMs`
   */
  run: (stopping: AbortSignal) => Promise<number> | Promise<void>;
  onError: (error: unknown) => void;
  /** Milliseconds until the next run, unless `run` returns another number. Also applies after an error. */
  everyMs: number;
  /** The minimum time between the start of a run and the start of a run that {@link Loop.wake} causes; 0 by default. */
  wakeFloorMs?: number;
  /**
   * Returns a number from 0 to 1. The number varies each wait by ± 10 %, so that many processes do not run together.
   */
  random?: () => number;
}

export function createLoop(options: LoopOptions): Loop {
  const { run, onError, everyMs, wakeFloorMs = 0, random = Math.random } = options;
  const stopping = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let current: Promise<void> | undefined;
  let isWoken = false;
  let isStopped = true;
  let begunAt = Number.NEGATIVE_INFINITY;
  const untilFloor = () => Math.max(0, wakeFloorMs - (performance.now() - begunAt));
  const schedule = (delayMs: number) => {
    if (!isStopped) timer = setTimeout(begin, delayMs * (0.9 + random() * 0.2));
  };
  const delayAfter = async (running: Promise<number> | Promise<void>) => {
    try {
      return ((await running) as number | undefined) ?? everyMs;
    } catch (error) {
      onError(error);
      return everyMs;
    }
  };
  const begin = () => {
    isWoken = false;
    begunAt = performance.now();
    current = delayAfter(run(stopping.signal)).then((delayMs) => {
      current = undefined;
      schedule(isWoken ? Math.min(delayMs, untilFloor()) : delayMs);
    });
  };
  return {
    start: () => {
      isStopped = false;
      schedule(0);
    },
    wake: () => {
      // Resetting the timer at every call would delay the run as long as calls keep coming.
      if (isWoken) return;
      isWoken = true;
      if (current !== undefined || isStopped) return;
      clearTimeout(timer);
      schedule(untilFloor());
    },
    stop: async () => {
      isStopped = true;
      stopping.abort();
      clearTimeout(timer);
      await current;
    },
  };
}
