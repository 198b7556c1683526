import { isatty } from 'node:tty';

/** Why a run ends before its time: somebody asked it to, by this signal. */
export class Interruption extends Error {
  readonly signalName: NodeJS.Signals;

  constructor(signalName: NodeJS.Signals) {
    super(`stopped by ${signalName}`);
    this.signalName = signalName;
  }

  /** What a shell reports for a program that a signal ended. */
  get exitCode(): number {
    return { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 }[this.signalName as 'SIGINT' | 'SIGTERM' | 'SIGHUP'] ?? 1;
  }
}

/** One Ctrl-C comes twice when npm passes on what the terminal has sent to everybody. */
const echoMs = 1_000;

/**
 * An AbortSignal for Ctrl-C, SIGTERM and a closed terminal, so that everything under way ends in its order. Asked a
 * second time we end on the spot, and all that we started with us.
 */
export function onInterruption(): AbortSignal {
  const controller = new AbortController();
  let firstAt = Number.POSITIVE_INFINITY;
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => {
      const interruption = new Interruption(name);
      if (performance.now() - firstAt > echoMs && name !== 'SIGHUP') process.exit(interruption.exitCode);
      firstAt = Math.min(firstAt, performance.now());
      controller.abort(interruption);
    });
  }
  onLostTerminal(() => controller.abort(new Interruption('SIGHUP')));
  return controller.signal;
}

/**
 * A closed terminal sends SIGHUP to the leader of its session only, and make as the leader (`ssh -t host make start`)
 * does not pass it on. So we look ourselves; and writing to what is gone must not be what ends us.
 */
function onLostTerminal(lost: () => void): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', lost);
  if (!process.stdout.isTTY) return;
  setInterval(() => {
    if (!isatty(process.stdout.fd)) lost();
  }, 1_000).unref();
}
