export interface MicroBatcherOptions<Item, Result> {
  /** Handles one batch, which is never empty. */
  run: (items: Item[]) => Promise<Result>;
  /** How long a batch waits for more items, in milliseconds; by default until the end of this event loop iteration. */
  waitMs?: number;
  /** A batch with this many items accepts no more; unlimited by default. */
  maxSize?: number;
  /** While this many batches run, new items gather, so batches grow with the load; unlimited by default. */
  maxRunning?: number;
}

interface Batch<Item, Result> {
  items: Item[];
  isDue: boolean;
  timer?: NodeJS.Timeout;
  result: PromiseWithResolvers<Result>;
}

/** Gathers items of many callers and handles them together: one promise and one timer per batch, not per item. */
export class MicroBatcher<Item, Result> {
  readonly #options: MicroBatcherOptions<Item, Result>;
  /** Waiting batches, oldest first. Only the last batch accepts items, and only until it is full. */
  readonly #waiting: Batch<Item, Result>[] = [];
  readonly #running = new Set<Batch<Item, Result>>();

  constructor(options: MicroBatcherOptions<Item, Result>) {
    this.#options = options;
  }

  /**
   * Adds an item to the open batch.
   *
   * @returns the result of `run` for the whole batch; the same promise for every item of a batch
   * @throws the error of `run` for the whole batch
   */
  add(item: Item): Promise<Result> {
    const batch = this.#openBatch();
    batch.items.push(item);
    if (this.#isFull(batch)) this.#makeDue(batch);
    return batch.result.promise;
  }

  /** Starts all waiting batches, or as many as may run. When a running batch ends, the next batch starts. */
  startAll(): void {
    for (const batch of this.#waiting) batch.isDue = true;
    this.#startDue();
  }

  /** Starts all waiting batches. Resolves once no batch waits or runs, even if some batches failed. */
  async flush(): Promise<void> {
    this.startAll();
    while (this.#running.size > 0) await Promise.allSettled([...this.#running].map((batch) => batch.result.promise));
  }

  get unfinished(): number {
    return [...this.#waiting, ...this.#running].reduce((count, { items }) => count + items.length, 0);
  }

  #isFull({ items }: Batch<Item, Result>): boolean {
    return items.length >= (this.#options.maxSize ?? Number.POSITIVE_INFINITY);
  }

  #openBatch(): Batch<Item, Result> {
    const last = this.#waiting.at(-1);
    if (last !== undefined && !this.#isFull(last)) return last;
    const batch: Batch<Item, Result> = { items: [], isDue: false, result: Promise.withResolvers() };
    this.#waiting.push(batch);
    const { waitMs } = this.#options;
    if (waitMs === undefined) setImmediate(() => this.#makeDue(batch));
    else batch.timer = setTimeout(() => this.#makeDue(batch), waitMs);
    return batch;
  }

  #makeDue(batch: Batch<Item, Result>): void {
    batch.isDue = true;
    this.#startDue();
  }

  #startDue(): void {
    while (this.#running.size < (this.#options.maxRunning ?? Number.POSITIVE_INFINITY) && this.#waiting[0]?.isDue) {
      const batch = this.#waiting.shift();
      if (batch !== undefined) void this.#run(batch);
    }
  }

  async #run(batch: Batch<Item, Result>): Promise<void> {
    clearTimeout(batch.timer);
    this.#running.add(batch);
    const result = (async () => this.#options.run(batch.items))();
    await Promise.allSettled([result]);
    this.#running.delete(batch);
    this.#startDue();
    batch.result.resolve(result);
  }
}
