/** Longer than what most requests take as a whole; short enough that nobody notices a few of them. */
const sliceMs = 2;

/** Those that wait for a turn of the event loop, in the order in which they came. */
const waiting: (() => void)[] = [];

/**
 * Maps many items without holding up the event loop: after 2 ms of work, requests and answers of others come first. Work
 * that is done so by several callers takes turns, one slice in each turn of the event loop. Few items are mapped at once.
 *
 * @throws what `map` throws; no further item is mapped then
 */
export async function mapInSlices<Item, Result>(
  items: readonly Item[],
  map: (item: Item, index: number) => Result,
): Promise<Result[]> {
  const results: Result[] = [];
  let sliceEnd = performance.now() + sliceMs;
  for (const [index, item] of items.entries()) {
    if (performance.now() >= sliceEnd) {
      await nextTurn();
      sliceEnd = performance.now() + sliceMs;
    }
    results.push(map(item, index));
  }
  return results;
}

/** Resolves in a turn of the event loop of its own, after those who asked before. */
function nextTurn(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  waiting.push(resolve);
  if (waiting.length === 1) setImmediate(takeTurn);
  return promise;
}

function takeTurn(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(takeTurn);
}
