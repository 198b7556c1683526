import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from '@enterprise-api/shared/ledger';
import { createLoop, type Loop } from '@enterprise-api/shared/runtime';
import {
  bodiesAtOnce,
  findRemovable,
  listShorterRetentions,
  noteOldEvents,
  readHorizon,
  removeBodies,
  type ShorterRetention,
} from './shorter-retention-queries.ts';

/** Data with a retention of 0 must be gone within 60 s of its last outcome. */
const everyMs = 20_000;

/** Removes the data of organizations that keep it for a shorter time than the settings say. Every worker does so. */
export function createShorterRetention(db: Database, onError: (error: unknown) => void): Loop {
  return createLoop({ onError, everyMs, run: (stopping) => applyShorterRetentions(db, stopping) });
}

/** @param signal ends the work between two batches */
export async function applyShorterRetentions(db: Database, signal: AbortSignal): Promise<void> {
  for (const organization of await listShorterRetentions(db)) await removeOldBodies(db, organization, signal);
}

/** Pauses after each batch for as long as the batch took. */
async function removeOldBodies(db: Database, organization: ShorterRetention, signal: AbortSignal): Promise<void> {
  for (let hasMore = true; hasMore && !signal.aborted; ) {
    const startedAt = performance.now();
    const noted = await noteOldEvents(db, organization, await readHorizon(db, organization.id));
    const ids = await findRemovable(db, organization);
    if (ids.length > 0) await removeBodies(db, organization.id, ids);
    hasMore = Math.max(noted, ids.length) === bodiesAtOnce;
    if (hasMore) await pause(performance.now() - startedAt);
  }
}
