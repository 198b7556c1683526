import { z } from 'zod';

/** What the totals reporter writes down. */
export const totalsSchema = z.object({
  passed: z.int(),
  failed: z.int(),
  /** Files that ended before their tests could run: an import that fails, a crash. */
  brokenFiles: z.int(),
  skipped: z.int(),
});

export type Totals = z.output<typeof totalsSchema>;

/** Those of a run in which there was nothing to run. */
export const noTotals: Totals = { passed: 0, failed: 0, brokenFiles: 0, skipped: 0 };

/** The last line of a test run. A file that could not run counts as a failure: it would hide its tests otherwise. */
export function totalsLine(totals: Totals): string {
  return `${totals.passed} passed, ${totals.failed + totals.brokenFiles} failed`;
}
