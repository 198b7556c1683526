/** Permits granted in one turn of the event loop, or a tenth of a long queue: turns are long in a busy process. */
const perTurn = 2;
const shareOfTurn = 10;
/** Permits of low priority are granted so far apart: 200 take three seconds. Of a longer queue, several at a time: 1,000 take seven. */
const lowPriorityEveryMs = 15;
const lowPriorityShare = 200;

/**
 * Grants permits to connect.
 *
 * @param isWanted asked when the permit would be granted; `false` uses up none
 * @returns whether the permit was granted
 */
export type ConnectRateLimiter = (lowPriority: boolean, isWanted: () => boolean) => Promise<boolean>;

/** How the limiter waits: until a later turn of the event loop, or for some milliseconds. */
interface Waiting {
  turn: (run: () => void) => void;
  later: (run: () => void, ms: number) => void;
}

/**
 * Spreads handshakes over turns of the event loop. When the retries to ten hanging endpoints fall due together, their ten
 * handshakes otherwise complete together too, and delay every answer behind them by 20 ms. Connections to endpoints that
 * have been slow are made one every 15 ms: each costs a machine of two cores some of its time, and none is urgent. The
 * normal queue must move faster: at two in each turn, a burst to a thousand new endpoints connected 150 times a second.
 */
export function createConnectRateLimiter(
  waiting: Waiting = { turn: setImmediate, later: setTimeout },
): ConnectRateLimiter {
  const normal = createPermitQueue((length) => Math.max(perTurn, Math.ceil(length / shareOfTurn)), waiting.turn);
  const low = createPermitQueue(
    (length) => Math.ceil(length / lowPriorityShare),
    (run) => waiting.later(run, lowPriorityEveryMs),
  );
  return (lowPriority, isWanted) => (lowPriority ? low : normal)(isWanted);
}

/**
 * @param share how many permits are granted together when so many are asked for
 * @param schedule runs the next round of grants
 */
function createPermitQueue(
  share: (length: number) => number,
  schedule: (run: () => void) => void,
): (isWanted: () => boolean) => Promise<boolean> {
  const queue: { isWanted: () => boolean; resolve: (granted: boolean) => void }[] = [];
  let scheduled = false;
  const grant = () => {
    scheduled = false;
    let left = share(queue.length);
    for (let next = queue.shift(); next !== undefined; next = left > 0 ? queue.shift() : undefined) {
      const granted = next.isWanted();
      next.resolve(granted);
      if (granted) left -= 1;
    }
    scheduleIfNeeded();
  };
  const scheduleIfNeeded = () => {
    if (scheduled || queue.length === 0) return;
    scheduled = true;
    schedule(grant);
  };
  return (isWanted) =>
    new Promise((resolve) => {
      queue.push({ isWanted, resolve });
      scheduleIfNeeded();
    });
}
