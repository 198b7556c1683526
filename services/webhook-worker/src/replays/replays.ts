import { countReplay, type Database, type DatabaseTransaction, type ReplayRow } from '@enterprise-api/shared/ledger';
import { createLoop, type Loop } from '@enterprise-api/shared/runtime';
import { lockDueReplay } from './queries.ts';

const lookEveryMs = 5_000;

/** Counts the deliveries of running replays, and completes each replay without pending deliveries. */
export function createReplayLoop(db: Database, onError: (error: unknown) => void): Loop {
  return createLoop({
    onError,
    everyMs: lookEveryMs,
    run: async (stopping) => {
      while (!stopping.aborted && (await db.transaction().execute(continueReplay)) !== undefined);
    },
  });
}

/** One transaction completes a replay and writes its `replay.finished` event. */
async function continueReplay(trx: DatabaseTransaction): Promise<ReplayRow | undefined> {
  const id = await lockDueReplay(trx);
  return id === undefined ? undefined : countReplay(trx, id, 'completed');
}
