import type { Clock } from '@enterprise-api/shared/runtime';

/** The database does not answer. Not the fault of the request, and not of its key: 503. */
export class DatabaseUnavailableError extends Error {
  override readonly name = 'DatabaseUnavailableError';
}

/**
 * Tells a database that is away from a statement that is slow. A pool that waits for a dead or frozen server waits for
 * many seconds; a client is to get its 503 within one.
 */
export interface Availability {
  /** Waits for the work, but no longer than the database is there. The work itself cannot be stopped. */
  attend<Result>(work: Promise<Result>): Promise<Result>;
  /** Whether the database answers right now. */
  check(): Promise<boolean>;
  close(): void;
}

export interface AvailabilityOptions {
  /** Asks the database for a sign of life, over a connection that is not busy with anything else. */
  ping: () => Promise<void>;
  clock: Clock;
  /** Work that takes longer makes us ask. With `pingWithinMs` it stays below a second. */
  slowAfterMs?: number;
  pingWithinMs?: number;
}

interface Waiting {
  sinceMs: number;
  giveUp: (error: Error) => void;
}

const lookEveryMs = 100;
const pingAgainMs = 250;

export function createAvailability(options: AvailabilityOptions): Availability {
  const { ping, clock, slowAfterMs = 300, pingWithinMs = 350 } = options;
  const waiting = new Set<Waiting>();
  let looking: NodeJS.Timeout | undefined;
  let checking: Promise<boolean> | undefined;
  let askedAtMs = Number.NEGATIVE_INFINITY;

  const check = (): Promise<boolean> => {
    checking ??= answersWithin(ping, pingWithinMs).finally(() => {
      checking = undefined;
    });
    askedAtMs = clock.monotonic();
    return checking;
  };
  const giveUpAll = () => {
    for (const { giveUp } of waiting) giveUp(new DatabaseUnavailableError('The database does not answer.'));
    waiting.clear();
  };
  const look = async (): Promise<void> => {
    if (waiting.size === 0) return stopLooking();
    const [oldest] = waiting;
    const now = clock.monotonic();
    if (oldest === undefined || now - oldest.sinceMs < slowAfterMs || now - askedAtMs < pingAgainMs) return;
    if (!(await check())) giveUpAll();
  };
  const stopLooking = () => {
    clearInterval(looking);
    looking = undefined;
  };
  return {
    attend: (work) =>
      new Promise((resolve, reject) => {
        const entry = { sinceMs: clock.monotonic(), giveUp: reject };
        waiting.add(entry);
        looking ??= setInterval(() => void look(), lookEveryMs).unref();
        work.then(resolve, reject).finally(() => waiting.delete(entry));
      }),
    check,
    close: stopLooking,
  };
}

async function answersWithin(ping: () => Promise<void>, withinMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const answer = ping().then(
    () => true,
    () => false,
  );
  const late = new Promise<boolean>((resolve) => {
    // When this process itself was held up, the answer may lie there already: one poll of the sockets before judging.
    timer = setTimeout(() => setImmediate(() => setImmediate(resolve, false)), withinMs);
  });
  const alive = await Promise.race([answer, late]);
  clearTimeout(timer);
  return alive;
}
