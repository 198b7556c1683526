/** Tasks that start in one turn of the event loop, or a few of them when many wait: turns are long in a busy process. */
const perTurn = 2;
const shareOfTurn = 10;
/** Tasks that can wait start so far apart: 200 are through in three seconds; of more, a few together: 1,000 in seven. */
const apartMs = 15;
const shareOfLine = 200;

/** Says whether it has started; one that is not wanted any more has not, and takes nobody's turn. */
type Task = () => boolean;

/** Starts a task soon; tasks that can wait have a line of their own. */
export type Pacer = (task: Task, canWait: boolean) => void;

/** What runs something in a later turn of the event loop, and after so many milliseconds. */
interface Scheduler {
  turn: (run: () => void) => void;
  later: (run: () => void, ms: number) => void;
}

/**
 * Starts things one after the other, a few in each turn of the event loop. For handshakes: when retries to ten endpoints
 * that hang fall due together, their ten handshakes came back together too, and stood 20 ms before everybody's answers.
 * Those to endpoints that have been slow come one every 15 ms: each takes a machine of two cores some of its time, and
 * none is awaited. The other line must move: two in each turn were 150 in a second when a burst went to a thousand new
 * endpoints.
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
function createLine(share: (waiting: number) => number, schedule: (run: () => void) => void): (task: Task) => void {
  const waiting: Task[] = [];
  let scheduled = false;
  const run = () => {
    scheduled = false;
    let left = share(waiting.length);
    for (let task = waiting.shift(); task !== undefined; task = left > 0 ? waiting.shift() : undefined) {
      if (task()) left -= 1;
    }
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
