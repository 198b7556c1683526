import type { ListReplaysQuery, Replay } from '@enterprise-api/shared/contracts';
import { countReplay, type Database, type DatabaseTransaction } from '@enterprise-api/shared/ledger';
import { fromPublicId, type Uuid } from '@enterprise-api/shared/runtime';
import type { Transact } from '../core/unit-of-work.ts';
import { type Problem, problem } from '../http/problem.ts';
import { type Cursors, type PageQuestion, paginate } from '../pagination/paging.ts';
import type { Target } from './destination.ts';
import { presentReplay } from './replay.ts';
import { cancelPendingOf, findReplay, listReplays, lockReplay } from './replay-queries.ts';
import { restoreDueTimes } from './waiting-queries.ts';

export type Replays = ReturnType<typeof createReplays>;

export function createReplays({ db, cursors }: { db: Database; cursors: Cursors }) {
  return {
    list: (organizationId: Uuid, { cursor, limit, webhook_id }: ListReplaysQuery) => {
      const webhookId = webhook_id === undefined ? undefined : (fromPublicId('whk', webhook_id) ?? undefined);
      const scope = { list: 'replays', organizationId, filters: { webhook_id } };
      const ask = (page: PageQuestion) => listReplays(db, organizationId, page, webhookId);
      return paginate(cursors, { cursor, limit }, scope, ask, presentReplay);
    },

    get: async (organizationId: Uuid, id: Uuid): Promise<Replay | Problem> => {
      const row = await findReplay(db, organizationId, id);
      return row === undefined ? problem('not_found') : presentReplay(row);
    },

    /** A replay that has ended stays as it is. */
    cancel: (transact: Transact, { organizationId, id }: Target): Promise<Replay | Problem> =>
      transact(async ({ trx, acted }) => {
        const row = await lockReplay(trx, organizationId, id);
        if (row === undefined) return problem('not_found');
        if (row.state !== 'running') return presentReplay(row);
        // Perhaps all deliveries of the replay have completed, and no worker has counted them yet.
        const counted = await countReplay(trx, id, 'completed');
        if (counted?.state === 'completed') return presentReplay(counted);
        await cancelPendingOf(trx, id);
        await restoreDueTimes(trx, id);
        const canceled = await countReplay(trx, id, 'canceled');
        await acted({ action: 'replay.canceled', objectId: id, organizationId });
        return presentReplay(canceled ?? row);
      }),

    exists: async (trx: DatabaseTransaction, organizationId: Uuid, id: Uuid): Promise<boolean> =>
      (await findReplay(trx, organizationId, id)) !== undefined,
  };
}
