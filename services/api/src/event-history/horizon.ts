import type { Database } from '@enterprise-api/shared/ledger';
import { MicroBatcher, type Uuid } from '@enterprise-api/shared/runtime';
import { type HorizonRow, readHorizonRows } from './queries.ts';

/**
 * Up to where an organization's events are complete: an event at a later position may still become visible behind one that
 * is visible already, because its transaction is open.
 */
export type Horizon = (organizationId: Uuid) => Promise<Completeness>;

interface Completeness {
  /** Every event up to this position is committed, or never will be. */
  completeUntil: number;
  /** Whether an open transaction holds it back: events may be written beyond it. */
  isHeldBack: boolean;
}

/**
 * Reads the horizon for many callers at once: what a caller gets was read after it asked, so that it covers whatever had
 * been committed by then.
 */
export function createHorizonReader(db: Database): Horizon {
  const batcher = new MicroBatcher({ maxRunning: 1, run: async () => completenessOf(await readHorizonRows(db)) });
  return async (organizationId) => (await batcher.add(null))(organizationId);
}

/** Rows without a bucket hold for all organizations. */
function completenessOf(rows: readonly HorizonRow[]): (organizationId: Uuid) => Completeness {
  const forAll = rows.filter(({ bucket }) => bucket === null).map((row) => row.complete_until);
  const greatest = Math.max(...forAll);
  const least = Math.min(...forAll);
  const ofBucket = new Map(rows.map((row) => [row.bucket, row.complete_until]));
  return (organizationId) => {
    const completeUntil = Math.min(least, ofBucket.get(bucketOf(organizationId)) ?? least);
    return { completeUntil, isHeldBack: completeUntil < greatest };
  };
}

/** The 12 bits of an organization's id that `event_position` notes for its transactions. */
function bucketOf(organizationId: Uuid): number {
  return Number.parseInt(organizationId.slice(-3), 16);
}
