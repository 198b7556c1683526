import type { Database } from '@enterprise-api/shared/ledger';
import { createLoop, type Loop, nilUuid, type Uuid } from '@enterprise-api/shared/runtime';

export interface KnownPauses {
  readonly isAllPaused: boolean;
  /** Organizations that an operator has paused individually. */
  readonly organizationIds: readonly Uuid[];
  /** Also true while everything is paused. */
  isPaused(organizationId: Uuid): boolean;
}

/** Every process acts on a pause within 5 s, even if the notification of the pause is lost. */
const readEveryMs = 2_000;
const delayAfterErrorMs = 500;

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
  /** The nil UUID in this set pauses every organization. */
  let paused: ReadonlySet<Uuid> = new Set();
  let act = () => {};
  const load = async () => {
    const rows = await db.selectFrom('sending_pauses').select('organization_id').execute();
    const [before, now] = [paused, new Set(rows.map(({ organization_id }) => organization_id))];
    paused = now;
    if (before.size !== now.size || [...before].some((id) => !now.has(id))) act();
  };
  return {
    ...createLoop({ run: () => load().then(() => readEveryMs), onError, delayAfterErrorMs }),
    load,
    onChange: (listener) => {
      act = listener;
    },
    get isAllPaused() {
      return paused.has(nilUuid);
    },
    get organizationIds() {
      return [...paused].filter((id) => id !== nilUuid);
    },
    isPaused: (organizationId) => paused.has(nilUuid) || paused.has(organizationId),
  };
}
