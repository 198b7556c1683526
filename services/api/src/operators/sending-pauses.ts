import type { GetSendingQuery, Sending, SetSending } from '@enterprise-api/shared/contracts';
import type { Database } from '@enterprise-api/shared/ledger';
import { fromPublicId, toPublicId } from '@enterprise-api/shared/runtime';
import { fieldChanges } from '../core/field-changes.ts';
import { findOrganizationState, requireActive } from '../core/require-active.ts';
import type { Transact } from '../core/unit-of-work.ts';
import { type Problem, problem } from '../http/problem.ts';
import { deletePause, findPause, insertPause, type SendingOf } from './queries.ts';

export type SendingPauses = ReturnType<typeof createSendingPauses>;

/** Pauses and resumes the deliveries of all organizations or of one. Workers apply a change within 5 s. */
export function createSendingPauses(db: Database) {
  return {
    get: async (query: GetSendingQuery): Promise<Sending | Problem> => {
      const whose = ownerOf(query);
      const isKnown = whose === null || (await findOrganizationState(db, whose)) !== undefined;
      return isKnown ? present(whose, await findPause(db, whose)) : problem('not_found');
    },

    set: (transact: Transact, { paused, ...query }: SetSending): Promise<Sending | Problem> =>
      transact(async ({ trx, changed }) => {
        const whose = ownerOf(query);
        const refused = whose === null ? undefined : await requireActive(trx, whose);
        if (refused !== undefined) return refused;
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

function ownerOf({ organization_id }: GetSendingQuery): SendingOf {
  return organization_id === undefined ? null : fromPublicId('org', organization_id);
}

function present(whose: SendingOf, pausedAt: Date | null): Sending {
  return {
    paused: pausedAt !== null,
    organization_id: whose === null ? null : toPublicId('org', whose),
    since: pausedAt?.toISOString() ?? null,
  };
}
