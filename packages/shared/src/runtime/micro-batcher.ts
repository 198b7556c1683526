export interface MicroBatcherOptions<Item, Result> {
  /** Handles one batch, which is never empty. */
  run: (items: Item[]) => Promise<Result>;
  /** How long a batch waits for more items, in milliseconds; undefined, the default, is the end of this turn of the event loop. */
  waitMs?: (running: number) => number | undefined;
  /** A batch is closed once its items weigh this much together; by default it has no limit. */
  maxSize?: number;
  /** What an item weighs; by default 1. An item is never cut. */
  sizeOf?: (item: Item) => number;
  /** Batches that run at once; by default any number. Items gather while they run: the busier, the larger the batches. */
  maxRunning?: number;
}

/** Gathers items of many callers and handles them together. */
export interface MicroBatcher<Item, Result> {
  /**
   * Adds an item to the batch that is being gathered.
   *
   * @returns what `run` returned for the whole batch; the same promise for every item of a batch
   * @throws what `run` threw for the whole batch
   */
  add(item: Item): Promise<Result>;
  /** Starts everything that waits, and resolves when nothing waits or runs any more, whatever became of it. */
  flush(): Promise<void>;
  /** Items that were added and whose batch has not ended. */
  readonly unfinished: number;
}

interface Batch<Item, Result> {
  items: Item[];
  size: number;
  isDue: boolean;
  timer: NodeJS.Timeout | undefined;
  result: PromiseWithResolvers<Result>;
}

/** Costs one promise and one timer per batch, not per item. */
export function createMicroBatcher<Item, Result>(
  options: MicroBatcherOptions<Item, Result>,
): MicroBatcher<Item, Result> {
  const gatherer = new Gatherer(options);
  // Functions without `this`, so that they can be passed on.
  return {
    add: (item) => gatherer.add(item),
    flush: () => gatherer.flush(),
    get unfinished() {
      return gatherer.unfinished;
    },
  };
}

class Gatherer<Item, Result> {
  readonly #options: MicroBatcherOptions<Item, Result>;
  readonly #maxSize: number;
  readonly #maxRunning: number;
  /** Oldest first; only the last one accepts items, and only until it is full. */
  readonly #waiting: Batch<Item, Result>[] = [];
  readonly #running = new Set<Promise<unknown>>();
  unfinished = 0;

  constructor(options: MicroBatcherOptions<Item, Result>) {
    this.#options = options;
    this.#maxSize = options.maxSize ?? Number.POSITIVE_INFINITY;
    this.#maxRunning = options.maxRunning ?? Number.POSITIVE_INFINITY;
  }

  add(item: Item): Promise<Result> {
    const batch = this.#openBatch();
    batch.items.push(item);
    batch.size += this.#options.sizeOf?.(item) ?? 1;
    this.unfinished += 1;
    if (batch.size >= this.#maxSize) this.#makeDue(batch);
    return batch.result.promise;
  }

  async flush(): Promise<void> {
    for (const batch of this.#waiting) batch.isDue = true;
    this.#startDue();
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
  }

  #openBatch(): Batch<Item, Result> {
    const last = this.#waiting.at(-1);
    if (last !== undefined && last.size < this.#maxSize) return last;
    const result = Promise.withResolvers<Result>();
    const batch: Batch<Item, Result> = { items: [], size: 0, isDue: false, timer: undefined, result };
    this.#waiting.push(batch);
    const waitMs = this.#options.waitMs?.(this.#running.size);
    if (waitMs === undefined) setImmediate(() => this.#makeDue(batch));
    else batch.timer = setTimeout(() => this.#makeDue(batch), waitMs);
    return batch;
  }

  #makeDue(batch: Batch<Item, Result>): void {
    batch.isDue = true;
    this.#startDue();
  }

  #startDue(): void {
    while (this.#running.size < this.#maxRunning && this.#waiting[0]?.isDue) {
      const batch = this.#waiting.shift();
      if (batch !== undefined) this.#start(batch);
    }
  }

  #start({ items, timer, result }: Batch<Item, Result>): void {
    clearTimeout(timer);
    // In an async function: a `run` that throws before it returns a promise fails its batch as well.
    const work = (async () => this.#options.run(items))().then(
      (value) => {
        end();
        result.resolve(value);
      },
      (error) => {
        end();
        result.reject(error);
      },
    );
    const end = () => {
      this.unfinished -= items.length;
      this.#running.delete(work);
      this.#startDue();
    };
    this.#running.add(work);
  }
}
