/** Limits concurrent work per key. Keys do not wait for each other. */
export interface KeyedSemaphore {
  /** A caller that gets a permit must call `release`. */
  tryAcquire(key: string): boolean;
  /**
   * Waits for a permit in arrival order.
   *
   * @returns true if the caller got a permit within `ms`
   */
  acquireWithin(key: string, ms: number): Promise<boolean>;
  release(key: string): void;
}

/** @param permits maximum number of permits per key */
export function createKeyedSemaphore(permits: number): KeyedSemaphore {
  const inUse = new Map<string, number>();
  /** Callbacks per key that receive a permit, the longest waiting first. */
  const waiting = new Map<string, Set<() => void>>();

  const tryAcquire = (key: string) => {
    const count = inUse.get(key) ?? 0;
    if (count >= permits) return false;
    inUse.set(key, count + 1);
    return true;
  };
  const enqueue = (key: string, grant: () => void) => {
    const queue = waiting.get(key) ?? new Set();
    waiting.set(key, queue.add(grant));
  };
  const dequeue = (key: string, grant: () => void) => {
    const queue = waiting.get(key);
    queue?.delete(grant);
    if (queue?.size === 0) waiting.delete(key);
  };
  return {
    tryAcquire,
    acquireWithin: async (key, ms) => {
      if (tryAcquire(key)) return true;
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const grant = () => resolve(true);
      enqueue(key, grant);
      const timer = setTimeout(() => {
        dequeue(key, grant);
        resolve(false);
      }, ms);
      return promise.finally(() => clearTimeout(timer));
    },
    release: (key) => {
      const [next] = waiting.get(key) ?? [];
      if (next !== undefined) {
        // Pass the permit to the longest waiter, so that no newcomer can take it first.
        dequeue(key, next);
        return next();
      }
      const left = (inUse.get(key) ?? 1) - 1;
      if (left === 0) inUse.delete(key);
      else inUse.set(key, left);
    },
  };
}
