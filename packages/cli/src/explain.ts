import type { Outcome } from './exit-codes.ts';
import { Failure } from './failure.ts';

/** An error in words. */
export interface Explanation {
  outcome: Outcome;
  message: string;
  /** More about the message, one line each. */
  details: string[];
  /** What the user can do. */
  hint?: string | undefined;
}

/** What went wrong, what to do about it, and the outcome that the exit code tells. */
export function explain(error: unknown): Explanation {
  if (error instanceof Failure)
    return { outcome: error.outcome, message: error.message, details: [], hint: error.hint };
  return { outcome: 'failure', message: error instanceof Error ? error.message : String(error), details: [] };
}
