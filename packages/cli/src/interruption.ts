const codes = {
  SIGINT: 130,
  SIGTERM: 143,
  // The reader has what it wanted, as in `| head`: no failure.
  EPIPE: 0,
} as const;

/** Why a command ended before its work was done: by a signal, or because nobody reads its output any more. */
export class Interruption extends Error {
  readonly exitCode: number;

  constructor(cause: keyof typeof codes) {
    super(cause);
    this.name = 'Interruption';
    this.exitCode = codes[cause];
  }
}
