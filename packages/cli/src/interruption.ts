const codes = {
  SIGINT: 130,
  SIGTERM: 143,
  // The reader closed the pipe because it needs no more output, as in `| head`. That is not a failure.
  EPIPE: 0,
} as const;

/** Why a command ended early: a signal arrived, or nobody reads its output any more. */
export class Interruption extends Error {
  readonly exitCode: number;

  constructor(cause: keyof typeof codes) {
    super(cause);
    this.name = 'Interruption';
    this.exitCode = codes[cause];
  }
}
