import type { Logger } from './logger.ts';
import type { Loop } from './loop.ts';
import { settledWithin, withTimeout } from './timeout.ts';

/** Exit codes of sysexits(3) that supervisors understand. */
export const exitCodes = { ok: 0, failure: 1, software: 70, config: 78 } as const;

type Closer = { name: string; close: () => unknown; withinMs: number | undefined };

export interface Closers {
  /** Call this as soon as the resource exists. `closeAll` waits for `close` at most `withinMs`, if given. */
  add(name: string, close: () => unknown, withinMs?: number): void;
  /** Runs every closer once, the latest first. If one fails, logs the error and continues with the next. */
  closeAll(): Promise<void>;
}

export function createClosers(log: Logger): Closers {
  const closers: Closer[] = [];
  return {
    add: (name, close, withinMs) => {
      closers.push({ name, close, withinMs });
    },
    closeAll: async () => {
      for (let closer = closers.pop(); closer !== undefined; closer = closers.pop()) {
        try {
          const closing = Promise.resolve(closer.close());
          const inTime = closer.withinMs === undefined || (await settledWithin(closing, closer.withinMs));
          if (inTime) await closing;
          else log.warn({ closer: closer.name, within_ms: closer.withinMs }, 'not closed in time');
        } catch (error) {
          log.error({ err: error, closer: closer.name }, 'close failed');
        }
      }
    },
  };
}

/** Limits each closer: a hanging database or queue must not delay the stop. The ledger keeps the unfinished work. */
export const closeWithinMs = 500;

/** Starts a loop, which the closers stop. */
export function startLoop(closers: Pick<Closers, 'add'>, name: string, loop: Omit<Loop, 'wake'>): void {
  closers.add(name, loop.stop, closeWithinMs);
  loop.start();
}

export interface RunningService {
  /** Stops accepting work, finishes the current work, and closes everything. */
  stop: () => Promise<void>;
}

/**
 * Runs a service until SIGTERM or SIGINT, then stops it within a deadline.
 *
 * Exits with 0 after a clean stop. Exits with 1 if the start failed, the deadline passed or the service gave up. Exits
 * with 70 after an uncaught exception: the state of the process is unknown then, and the ledger has all remaining work.
 * A second signal does not shorten the stop. SIGKILL ends the process at once and loses no work.
 *
 * @param start starts the service. The service calls `giveUp` if it runs but cannot do its work. The service then stops
 *   as at SIGTERM, and its supervisor starts it again
 */
export async function runService(
  log: Logger,
  stopWithinMs: number,
  start: (giveUp: (reason: Error) => void) => Promise<RunningService>,
): Promise<void> {
  let isStopping = false;
  let exitCode: number = exitCodes.ok;
  exitOnCrash(log, () => isStopping);
  const { promise: stopSignal, resolve: requestStop } = Promise.withResolvers<string>();
  process.on('SIGTERM', requestStop);
  process.on('SIGINT', requestStop);
  const giveUp = (reason: Error) => {
    if (exitCode !== exitCodes.ok) return;
    log.fatal({ err: reason }, 'giving up');
    exitCode = exitCodes.failure;
    requestStop('none, gave up');
  };
  try {
    const service = await start(giveUp);
    const signal = await stopSignal;
    isStopping = true;
    log.info({ signal }, 'stopping');
    await withTimeout(service.stop(), stopWithinMs, () => {
      log.fatal({ stop_within_ms: stopWithinMs }, 'did not stop in time');
      process.exit(exitCodes.failure);
    });
    log.info('stopped');
    process.exit(exitCode);
  } catch (error) {
    log.fatal({ err: error }, isStopping ? 'could not stop' : 'could not start');
    process.exit(exitCodes.failure);
  }
}

function exitOnCrash(log: Logger, isStopping: () => boolean): void {
  const crash = (error: unknown) => {
    // A connection that is cut during the stop may still raise an error; continue the stop.
    if (isStopping()) return log.error({ err: error }, 'error while stopping');
    log.fatal({ err: error }, 'crashed');
    process.exit(exitCodes.software);
  };
  process.on('uncaughtException', (error) => {
    if (!isTlsError(error)) return crash(error);
    log.warn({ err: error }, 'another error of a failed TLS connection');
  });
  process.on('unhandledRejection', crash);
}

/**
 * Node.js emits an error of a TLS connection even if the connection has already failed, for example because of its
 * certificate. ioredis listens only for the first error. Deliveries, forwarding and PostgreSQL listen for all of them.
 */
function isTlsError(error: Error): boolean {
  return 'library' in error && error.library === 'SSL routines';
}

export function exitWithBadSettings(service: string, problems: readonly string[]): never {
  const lines = problems.map((problem) => `  ${problem}`).join('\n');
  process.stderr.write(`${service}: the settings are not usable:\n${lines}\n`);
  process.exit(exitCodes.config);
}
