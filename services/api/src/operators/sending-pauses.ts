import type { GetSendingQuery, Sending, SetSending } from '@enterprise-api/shared/contracts';
import type { Database, DatabaseTransaction } from '@enterprise-api/shared/ledger';
import { fromPublicId, toPublicId, type Uuid } from '@enterprise-api/shared/runtime';
import { fieldChanges } from '../core/field-changes.ts';
import type { Transact } from '../core/unit-of-work.ts';
import { isProblem, type Problem, problem } from '../http/problem.ts';
import { deletePause, findPause, insertPause, type SendingOf } from './queries.ts';

export interface SendingPausesOptions {
  db: Database;
  findExistingOrganizations: (ids: readonly Uuid[], trx?: DatabaseTransaction) => Promise<Uuid[]>;
}

export type SendingPauses = ReturnType<typeof createSendingPauses>;

/** Pauses and resumes the deliveries of all organizations or of one. Workers apply a change within 5 s. */
export function createSendingPauses({ db, findExistingOrganizations }: SendingPausesOptions) {
  const find = async (
    { organization_id }: GetSendingQuery,
    trx?: DatabaseTransaction,
  ): Promise<SendingOf | Problem> => {
    if (organization_id === undefined) return null;
    const whose = fromPublicId('org', organization_id);
    const isKnown = whose !== null && (await findExistingOrganizations([whose], trx)).length > 0;
    return isKnown ? whose : problem('not_found');
  };
  return {
    get: async (query: GetSendingQuery): Promise<Sending | Problem> => {
      const whose = await find(query);
      return isProblem(whose) ? whose : present(whose, await findPause(db, whose));
    },

    set: (transact: Transact, { paused, ...query }: SetSending): Promise<Sending | Problem> =>
      transact(async ({ trx, changed }) => {
        const whose = await find(query, trx);
        if (isProblem(whose)) return whose;
        const pause = paused ? await insertPause(trx, whose) : null;
        if (pause?.is_new ?? (await deletePause(trx, whose))) {
          const action = paused ? 'sending.paused' : 'sending.resumed';
          const fields = fieldChanges({ paused: !paused }, { paused }, ['paused']);
          await changed({ action, objectId: whose, organizationId: whose, ...fields });
        }
        return present(whose, pause?.paused_at ?? null);
      }),
  };
}

function present(whose: SendingOf, pausedAt: Date | null): Sending {
  return {
    paused: pausedAt !== null,
    organization_id: whose === null ? null : toPublicId('org', whose),
    since: pausedAt?.toISOString() ?? null,
  };
}
