import { z } from 'zod';
import { areaSchema } from './areas.ts';

/** The counts that the totals reporter writes. */
export const totalsSchema = z.object({
  passed: z.int(),
  failed: z.int(),
  /** Files whose tests could not run, because an import failed or the process crashed. */
  brokenFiles: z.int(),
  skipped: z.int(),
  areas: z.array(areaSchema),
});

export type Totals = z.output<typeof totalsSchema>;

/** The totals when no test was run. */
export const noTotals: Totals = { passed: 0, failed: 0, brokenFiles: 0, skipped: 0, areas: [] };

/** The last line of a test run. A file that could not run counts as one failure. */
export function totalsLine(totals: Totals): string {
  return `${totals.passed} passed, ${totals.failed + totals.brokenFiles} failed`;
}
