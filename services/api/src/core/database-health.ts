import { afterPoll, type Clock } from '@enterprise-api/shared/runtime';

/** The database does not answer. Neither the request nor its key is at fault: the client gets 503. */
export class DatabaseUnavailableError extends Error {
  override readonly name = 'DatabaseUnavailableError';
}

/**
 * Whether the client still waits for the result of some work: false once its request was given up. Work that changes
 * something asks before it commits, because a client that got 503 was told that nothing happened.
 *
 * @param forMs a true answer also promises that the client gets no 503 within this time
 */
export type IsWanted = (forMs?: number) => boolean;

/** Runs work that needs the database; see {@link DatabaseHealth.withDatabaseCheck}. */
export type WithDatabaseCheck = <Result>(work: (isWanted: IsWanted) => Promise<Result>) => Promise<Result>;

/**
 * Tells a database that is down from a statement that is slow. A connection pool waits many seconds for a dead or frozen
 * server; a client gets its 503 within one.
 */
export interface DatabaseHealth {
  /**
   * Waits for the work for as long as the database answers pings.
   *
   * @throws DatabaseUnavailableError when it stops answering. The work cannot be interrupted; it learns from `isWanted`
   *   that its result is no longer wanted.
   */
  readonly withDatabaseCheck: WithDatabaseCheck;
  /** Whether the database answers right now. */
  check(): Promise<boolean>;
  close(): void;
}

export interface DatabaseHealthOptions {
  /** Pings the database over a connection that does nothing else. */
  ping: () => Promise<void>;
  clock: Clock;
  /** Work that takes longer than this makes us ping. A quarter of the promised second is left for a busy process. */
  slowAfterMs?: number;
  /** A busy server may need 400 ms for a ping that opens a connection. */
  pingWithinMs?: number;
}

const inspectEveryMs = 50;
const pingAgainAfterMs = 250;

export function createDatabaseHealth(options: DatabaseHealthOptions): DatabaseHealth {
  const { ping, clock, slowAfterMs = 200, pingWithinMs = 500 } = options;
  const pending = createPendingWork(clock);
  let timer: NodeJS.Timeout | undefined;
  let pinging: Promise<boolean> | undefined;
  let pingedAtMs = Number.NEGATIVE_INFINITY;

  const check = (): Promise<boolean> => {
    if (pinging === undefined) {
      pingedAtMs = clock.monotonic();
      pinging = answersWithin(ping, pingWithinMs).finally(() => {
        pinging = undefined;
      });
    }
    return pinging;
  };
  const close = () => {
    clearTimeout(timer);
    timer = undefined;
  };
  const inspectAfter = (ms: number) => {
    timer = setTimeout(() => void inspect(), ms).unref();
  };
  const inspect = async (): Promise<void> => {
    timer = undefined;
    const sinceMs = pending.oldestSinceMs();
    if (sinceMs === undefined) return;
    const now = clock.monotonic();
    // Not sooner than the oldest work can be slow: with a look every 50 ms, each event of a quiet day woke the process once more.
    inspectAfter(Math.max(inspectEveryMs, slowAfterMs - (now - sinceMs)));
    if (now - sinceMs < slowAfterMs || now - pingedAtMs < pingAgainAfterMs) return;
    if (!(await check())) pending.giveUpAll();
  };
  const withDatabaseCheck: WithDatabaseCheck = (work) => {
    if (timer === undefined) inspectAfter(slowAfterMs);
    return pending.add(work);
  };
  return { withDatabaseCheck, check, close };
}

interface PendingWork {
  readonly sinceMs: number;
  /** No 503 before this time: until then, the database may still execute a write of this work. */
  heldUntilMs: number;
  readonly giveUp: () => void;
}

/** The work that waits for the database, oldest first. */
function createPendingWork(clock: Clock) {
  const pending = new Set<PendingWork>();
  const add: WithDatabaseCheck = (work) =>
    new Promise((resolve, reject) => {
      const sinceMs = clock.monotonic();
      const giveUp = () => reject(new DatabaseUnavailableError('The database does not answer.'));
      const entry = { sinceMs, heldUntilMs: sinceMs, giveUp };
      pending.add(entry);
      const isWanted: IsWanted = (forMs = 0) => {
        if (!pending.has(entry)) return false;
        entry.heldUntilMs = Math.max(entry.heldUntilMs, clock.monotonic() + forMs);
        return true;
      };
      // Work that was given up fails with the 503 that it was given, however it ends by itself until that is due.
      const fail = (error: unknown) => {
        if (pending.has(entry)) reject(error);
      };
      work(isWanted)
        .then(resolve, fail)
        .finally(() => pending.delete(entry));
    });
  const giveUpAll = () => {
    const now = clock.monotonic();
    for (const { giveUp, heldUntilMs } of pending) {
      if (heldUntilMs > now) setTimeout(giveUp, heldUntilMs - now);
      else giveUp();
    }
    pending.clear();
  };
  return {
    add,
    giveUpAll,
    oldestSinceMs: () => {
      const [oldest] = pending;
      return oldest?.sinceMs;
    },
  };
}

/** Time in which this process did not run counts as one step at most: a machine that stood still says nothing about the database. */
const stepMs = 50;

async function answersWithin(ping: () => Promise<void>, withinMs: number): Promise<boolean> {
  const outcome = Promise.withResolvers<boolean>();
  let stepsLeft = Math.ceil(withinMs / stepMs);
  const timer = setInterval(() => {
    stepsLeft--;
    if (stepsLeft === 0) afterPoll(() => outcome.resolve(false));
  }, stepMs);
  ping().then(
    () => outcome.resolve(true),
    () => outcome.resolve(false),
  );
  try {
    return await outcome.promise;
  } finally {
    clearInterval(timer);
  }
}
