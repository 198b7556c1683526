import { type Uuid, uuidTimeMs } from '@enterprise-api/shared/runtime';

/** The times in ids from which on there are events, and bodies of events; milliseconds since 1970. */
export interface LimitsOfRetention {
  events: number;
  bodies: number;
}

/** The limits as far as they matter for an event with this id. */
export type RetentionLimits = (id: Uuid) => Promise<LimitsOfRetention>;

/** Retention touches nothing younger, whatever its settings: for such ids nobody needs to ask the ledger. */
const neverRemovedBeforeMs = 24 * 60 * 60_000;
const nothingIsGone: LimitsOfRetention = { events: 0, bodies: 0 };

/**
 * @param read what retention has done so far, from the ledger: its settings are those of the workers
 * @param now the database's clock
 */
export function createRetentionLimits(read: () => Promise<LimitsOfRetention>, now: () => number): RetentionLimits {
  return async (id) => (now() - uuidTimeMs(id) < neverRemovedBeforeMs ? nothingIsGone : read());
}
