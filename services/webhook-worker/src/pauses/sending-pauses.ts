import type { Database } from '@enterprise-api/shared/ledger';
import { createLoop, type Loop, nilUuid, type Uuid } from '@enterprise-api/shared/runtime';

export interface KnownPauses {
  readonly isAllPaused: boolean;
  /** Organizations that an operator has paused individually. */
  readonly organizationIds: ReadonlySet<Uuid>;
}

/** Every process acts on a pause within 5 s, even if the notification of the pause is lost. */
const everyMs = 2_000;

/** Reads the pauses from the ledger at start, after every change, and every two seconds. */
export interface SendingPauses extends KnownPauses, Loop {
  /**
   * Reads the pauses. A starting process calls this before it leases any delivery.
   *
   * @throws when the database does not answer
   */
  load(): Promise<void>;
  onChange(act: () => void): void;
}

export function createSendingPauses(db: Database, onError: (error: unknown) => void): SendingPauses {
  let act = () => {};
  const load = async () => {
    const rows = await db.selectFrom('sending_pauses').select('organization_id').execute();
    const organizationIds = new Set(rows.map(({ organization_id }) => organization_id));
    const isAllPaused = organizationIds.delete(nilUuid);
    const before = pauses.organizationIds;
    const isSame = organizationIds.size === before.size && [...before].every((id) => organizationIds.has(id));
    const hasChanged = isAllPaused !== pauses.isAllPaused || !isSame;
    Object.assign(pauses, { isAllPaused, organizationIds });
    if (hasChanged) act();
  };
  const pauses: SendingPauses = {
    ...createLoop({ run: load, onError, everyMs }),
    load,
    onChange: (listener) => {
      act = listener;
    },
    isAllPaused: false,
    organizationIds: new Set(),
  };
  return pauses;
}
