/** Tasks that start in one turn of the event loop, or a few of them when many wait: turns are long in a busy process. */
const perTurn = 2;
const shareOfTurn = 10;
/** Tasks that can wait start so far apart, or a few of them when many wait: a line is through in half a second. */
const apartMs = 5;
const shareOfLine = 20;

/** Starts a task soon; tasks that can wait have a line of their own. */
export type Pacer = (task: () => void, canWait: boolean) => void;

/** What runs something in a later turn of the event loop, and after so many milliseconds. */
interface Scheduler {
  turn: (run: () => void) => void;
  later: (run: () => void, ms: number) => void;
}

/**
 * Starts things one after the other, a few in each turn of the event loop. For handshakes: when retries to ten endpoints
 * that hang fall due together, their ten handshakes came back together too, and stood 20 ms before everybody's answers.
 * Those of retries come one every few milliseconds: each takes a machine of two cores some of its time, and none is awaited.
 * A line must move all the same: two in each turn were 150 in a second when a burst went to a thousand new endpoints, and
 * a thousand attempts ended in it, by their deadlines.
 */
export function createPacer(scheduler: Scheduler = { turn: setImmediate, later: setTimeout }): Pacer {
  const urgent = createLine((waiting) => Math.max(perTurn, Math.ceil(waiting / shareOfTurn)), scheduler.turn);
  const patient = createLine(
    (waiting) => Math.ceil(waiting / shareOfLine),
    (run) => scheduler.later(run, apartMs),
  );
  return (task, canWait) => (canWait ? patient : urgent)(task);
}

/** @param share how many of those waiting start together */
function createLine(
  share: (waiting: number) => number,
  schedule: (run: () => void) => void,
): (task: () => void) => void {
  const waiting: (() => void)[] = [];
  let scheduled = false;
  const run = () => {
    scheduled = false;
    const now = waiting.splice(0, share(waiting.length));
    for (const task of now) task();
    scheduleIfWaiting();
  };
  const scheduleIfWaiting = () => {
    if (scheduled || waiting.length === 0) return;
    scheduled = true;
    schedule(run);
  };
  return (task) => {
    waiting.push(task);
    scheduleIfWaiting();
  };
}
