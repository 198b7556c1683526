import type { Database } from '@enterprise-api/shared/ledger';
import { MicroBatcher, type Uuid } from '@enterprise-api/shared/runtime';
import { type HorizonRow, readHorizonRows } from './queries.ts';

/**
 * Position up to which an organization's events are complete. Beyond it, a visible event may follow an event whose
 * transaction is still open.
 */
export type Horizon = (organizationId: Uuid) => Promise<Completeness>;

interface Completeness {
  /** No event can be added up to this position any more. */
  completeUntil: number;
  /** True if an open transaction limits `completeUntil`: events may be written beyond this position. */
  isBehind: boolean;
}

/**
 * Batches the reads of many callers. A read starts after its callers asked, so it covers every event committed before
 * they asked.
 */
export function createHorizonReader(db: Database): Horizon {
  const batcher = new MicroBatcher({ maxRunning: 1, run: async () => completenessOf(await readHorizonRows(db)) });
  return async (organizationId) => (await batcher.add(null))(organizationId);
}

/** Rows without a bucket apply to all organizations. */
function completenessOf(rows: readonly HorizonRow[]): (organizationId: Uuid) => Completeness {
  const forAll = rows.filter(({ bucket }) => bucket === null).map((row) => row.complete_until);
  const greatest = Math.max(...forAll);
  const least = Math.min(...forAll);
  const ofBucket = new Map(rows.map((row) => [row.bucket, row.complete_until]));
  return (organizationId) => {
    const completeUntil = Math.min(least, ofBucket.get(bucketOf(organizationId)) ?? least);
    return { completeUntil, isBehind: completeUntil < greatest };
  };
}

/** Returns the 12 bits of the organization's id that `event_position` puts into its advisory locks. */
function bucketOf(organizationId: Uuid): number {
  return Number.parseInt(organizationId.slice(-3), 16);
}
