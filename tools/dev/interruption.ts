import { isatty } from 'node:tty';

/** The reason of a run that a signal ended. */
export class Interruption extends Error {
  readonly signalName: NodeJS.Signals;

  constructor(signalName: NodeJS.Signals) {
    super(`stopped by ${signalName}`);
    this.signalName = signalName;
  }

  /** The exit code that shells use for a program that a signal ended. */
  get exitCode(): number {
    return { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 }[this.signalName as 'SIGINT' | 'SIGTERM' | 'SIGHUP'] ?? 1;
  }
}

/** Under npm one Ctrl-C arrives twice: from the terminal, and from npm, which forwards its own. */
const echoMs = 1_000;

/**
 * An AbortSignal for Ctrl-C, SIGTERM and a closed terminal, so that everything stops in order. A second signal ends this
 * process and its children at once.
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
 * A closed terminal sends SIGHUP to the leader of its session only. When make is the leader (`ssh -t host make start`),
 * it does not forward the signal. So this looks whether the terminal is still there, and ignores write errors.
 */
function onLostTerminal(lost: () => void): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', lost);
  if (!process.stdout.isTTY) return;
  setInterval(() => {
    if (!isatty(process.stdout.fd)) lost();
  }, 1_000).unref();
}
