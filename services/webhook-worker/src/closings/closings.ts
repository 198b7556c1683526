import { setTimeout as pause } from 'node:timers/promises';
import { cancelBatchSize, cancelPending, type Database, type DatabaseTransaction } from '@enterprise-api/shared/ledger';
import { createLoop, type Logger, type Loop, toPublicId, type Uuid } from '@enterprise-api/shared/runtime';
import type { SecretBox } from '@enterprise-api/shared/security';
import { eventsPerBatch } from '../erasures/erasures.ts';
import {
  beginErasure,
  type ClosingOrganization,
  eraseBatch,
  findClosing,
  findLateEvents,
  takeCopies,
} from './queries.ts';

interface ClosingParts {
  db: Database;
  box: Pick<SecretBox, 'seal'>;
  log: Logger;
  eraseEvents: (trx: DatabaseTransaction, eventIds: readonly Uuid[]) => Promise<unknown>;
}

const lookEveryMs = 2_000;

/**
 * Cancels the pending deliveries of closed organizations and later erases their data: first all events, by an erasure,
 * then the rest. The ledger holds all progress, so another worker continues after a crash.
 */
export function createClosingLoop(parts: ClosingParts, onError: (error: unknown) => void): Loop {
  return createLoop({
    onError,
    everyMs: lookEveryMs,
    run: async (stopping) => {
      for (const closing of await findClosing(parts.db)) {
        if (!stopping.aborted) await continueClosing(parts, closing, stopping).catch(onError);
      }
      await eraseLateEvents(parts);
    },
  });
}

async function continueClosing(parts: ClosingParts, closing: ClosingOrganization, stopping: AbortSignal) {
  const { db, box } = parts;
  let canceled = cancelBatchSize;
  while (canceled === cancelBatchSize && !stopping.aborted) {
    canceled = await cancelPending(db, closing.webhookIds, { limit: cancelBatchSize, locked: 'wait' });
  }
  if (closing.erasure === 'due') await db.transaction().execute((trx) => beginErasure(trx, box.seal, closing.id));
  if (closing.erasure === 'completed') await eraseOrganization(parts, closing, stopping);
}

/** Pauses after each batch for as long as the batch took. */
async function eraseOrganization(parts: ClosingParts, { id }: ClosingOrganization, stopping: AbortSignal) {
  const { db, log } = parts;
  let copies = eventsPerBatch;
  while (copies === eventsPerBatch && !stopping.aborted) copies = await eraseCopies(parts, id);
  while (!stopping.aborted) {
    const startedAt = performance.now();
    const result = await db.transaction().execute((trx) => eraseBatch(trx, id));
    if (result === 'closed') log.info({ organization_id: toPublicId('org', id) }, 'organization closed');
    if (result !== 'erased') return;
    await pause(performance.now() - startedAt);
  }
}

function eraseCopies({ db, eraseEvents }: ClosingParts, id: Uuid): Promise<number> {
  return db.transaction().execute(async (trx) => {
    const eventIds = await takeCopies(trx, id, eventsPerBatch);
    if (eventIds.length > 0) await eraseEvents(trx, eventIds);
    return eventIds.length;
  });
}

async function eraseLateEvents({ db, eraseEvents }: ClosingParts): Promise<void> {
  for (;;) {
    const eventIds = await findLateEvents(db, eventsPerBatch);
    if (eventIds.length === 0) return;
    await db.transaction().execute((trx) => eraseEvents(trx, eventIds));
  }
}
