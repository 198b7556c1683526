import type { Outcome } from './exit-codes.ts';

/** An expected failure: ends the command with a message, a hint on what to do, and an exit code. */
export class Failure extends Error {
  readonly outcome: Outcome;
  /** A whole sentence that tells the user what to do. */
  readonly hint: string | undefined;

  constructor(outcome: Outcome, message: string, hint?: string) {
    super(message);
    this.name = 'Failure';
    this.outcome = outcome;
    this.hint = hint;
  }
}
