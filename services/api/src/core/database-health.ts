import { type Clock, withTimeout } from '@enterprise-api/shared/runtime';

/** The database does not answer. Neither the request nor its key is at fault: the client gets 503. */
export class DatabaseUnavailableError extends Error {
  override readonly name = 'DatabaseUnavailableError';
}

/**
 * Whether the client still waits for the result of some work: false once its request was answered 503. Work that
 * changes something asks before it commits, because the client was told that nothing happened.
 */
export type IsWanted = () => boolean;

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
  /** Work that takes longer than this makes us ping. Together with `pingWithinMs` it stays below a second. */
  slowAfterMs?: number;
  pingWithinMs?: number;
}

interface PendingWork {
  sinceMs: number;
  giveUp: (error: Error) => void;
}

const inspectEveryMs = 100;
const pingAgainAfterMs = 250;

export function createDatabaseHealth(options: DatabaseHealthOptions): DatabaseHealth {
  const { ping, clock, slowAfterMs = 300, pingWithinMs = 350 } = options;
  const pending = new Set<PendingWork>();
  let timer: NodeJS.Timeout | undefined;
  let pinging: Promise<boolean> | undefined;
  let pingedAtMs = Number.NEGATIVE_INFINITY;

  const check = (): Promise<boolean> => {
    pinging ??= answersWithin(ping, pingWithinMs).finally(() => {
      pinging = undefined;
    });
    pingedAtMs = clock.monotonic();
    return pinging;
  };
  const giveUpAll = () => {
    for (const { giveUp } of pending) giveUp(new DatabaseUnavailableError('The database does not answer.'));
    pending.clear();
  };
  const close = () => {
    clearInterval(timer);
    timer = undefined;
  };
  const inspect = async (): Promise<void> => {
    const [oldest] = pending;
    if (oldest === undefined) return close();
    const now = clock.monotonic();
    if (now - oldest.sinceMs < slowAfterMs || now - pingedAtMs < pingAgainAfterMs) return;
    if (!(await check())) giveUpAll();
  };
  const withDatabaseCheck: WithDatabaseCheck = (work) =>
    new Promise((resolve, reject) => {
      const entry = { sinceMs: clock.monotonic(), giveUp: reject };
      pending.add(entry);
      timer ??= setInterval(() => void inspect(), inspectEveryMs).unref();
      work(() => pending.has(entry))
        .then(resolve, reject)
        .finally(() => pending.delete(entry));
    });
  return { withDatabaseCheck, check, close };
}

function answersWithin(ping: () => Promise<void>, withinMs: number): Promise<boolean> {
  const answer = ping().then(
    () => true,
    () => false,
  );
  return withTimeout(answer, withinMs, () => false);
}
