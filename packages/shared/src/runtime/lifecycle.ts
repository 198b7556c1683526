import type { Logger } from './logger.ts';
import { settledWithin } from './timeout.ts';

/** Exit codes of sysexits(3) that supervisors understand. */
export const exitCodes = { ok: 0, failure: 1, software: 70, config: 78 } as const;

type Closer = { name: string; close: () => unknown; withinMs: number | undefined };

/** What must be closed when the process ends. */
export interface Closers {
  /** Registers a closer as soon as something is built. `closeAll` waits for it at most `withinMs`, if given. */
  add(name: string, close: () => unknown, withinMs?: number): void;
  /** Runs every closer once, the latest first. One that fails is logged, and the next one runs. */
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

export interface RunningService {
  /** Accepts no more work, finishes what runs, and closes everything. */
  stop: () => Promise<void>;
}

/**
 * Runs a service until SIGTERM or SIGINT, then stops it within a deadline.
 *
 * Exits with 0 after a clean stop, with 1 when the start failed or the deadline passed, with 70 after an uncaught
 * exception: the state of the process is unknown then, and the ledger has all the work that is left. A second signal does
 * not shorten the stop; SIGKILL does, and loses nothing.
 */
export async function runService(
  log: Logger,
  stopWithinMs: number,
  // `giveUp` is for a service that runs but cannot do its work: it stops as at SIGTERM, and its supervisor starts it again.
  start: (giveUp: (reason: Error) => void) => Promise<RunningService>,
): Promise<void> {
  let isStopping = false;
  let exitCode: number = exitCodes.ok;
  const crash = (error: unknown) => {
    // Connections that are cut during the stop may still raise errors; the stop goes on.
    if (isStopping) return log.error({ err: error }, 'error while stopping');
    log.fatal({ err: error }, 'crashed');
    process.exit(exitCodes.software);
  };
  process.on('uncaughtException', crash);
  process.on('unhandledRejection', crash);
  let stopRequested: (signal: string) => void = () => undefined;
  const stopSignal = new Promise<string>((resolve) => {
    stopRequested = resolve;
  });
  process.on('SIGTERM', stopRequested);
  process.on('SIGINT', stopRequested);
  const giveUp = (reason: Error) => {
    if (exitCode !== exitCodes.ok) return;
    log.fatal({ err: reason }, 'giving up');
    exitCode = exitCodes.failure;
    stopRequested('none, gave up');
  };
  try {
    const service = await start(giveUp);
    const signal = await stopSignal;
    isStopping = true;
    log.info({ signal }, 'stopping');
    const deadline = setTimeout(() => {
      log.fatal({ stop_within_ms: stopWithinMs }, 'did not stop in time');
      process.exit(exitCodes.failure);
    }, stopWithinMs);
    await service.stop();
    clearTimeout(deadline);
    log.info('stopped');
    process.exit(exitCode);
  } catch (error) {
    log.fatal({ err: error }, 'could not start');
    process.exit(exitCodes.failure);
  }
}

/** Reports all problems of the settings and ends the process with EX_CONFIG. */
export function exitWithBadSettings(service: string, problems: readonly string[]): never {
  const lines = problems.map((problem) => `  ${problem}`).join('\n');
  process.stderr.write(`${service}: the settings are not usable:\n${lines}\n`);
  process.exit(exitCodes.config);
}
