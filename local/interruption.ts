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

/**
 * An AbortSignal for Ctrl-C, SIGTERM and a closed terminal, so that everything under way ends in its order. A second
 * Ctrl-C ends us on the spot: what we started is then ended by its guards.
 */
export function onInterruption(): AbortSignal {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => {
      const interruption = new Interruption(name);
      if (controller.signal.aborted && name !== 'SIGHUP') process.exit(interruption.exitCode);
      controller.abort(interruption);
    });
  }
  // The terminal may be gone before its SIGHUP comes; writing to it must not be what ends us.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', () => controller.abort(new Interruption('SIGHUP')));
  }
  return controller.signal;
}
