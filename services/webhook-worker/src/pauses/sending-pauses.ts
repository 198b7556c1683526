import type { Database } from '@enterprise-api/shared/ledger';
import { createLoop, type Loop, nilUuid, type Uuid } from '@enterprise-api/shared/runtime';

/** What operators hold back, as far as this process knows. */
export interface KnownPauses {
  readonly isAllPaused: boolean;
  /** Organizations that are paused by themselves. */
  readonly organizationIds: readonly Uuid[];
  /** Whether nothing of this organization may be sent now. */
  isPaused(organizationId: Uuid): boolean;
}

/** Every process acts on a pause within 5 s, also when no notification of it arrives. */
const readEveryMs = 2_000;
const delayAfterErrorMs = 500;

/** Knows which deliveries operators hold back: read from the ledger at start, at every change, and every two seconds. */
export interface SendingPauses extends KnownPauses, Loop {
  /**
   * Reads what is paused. A process that starts does so before it leases anything.
   *
   * @throws when the database does not answer
   */
  load(): Promise<void>;
  /** Sets what acts on a change. Called once, before the first lease. */
  onChange(act: () => void): void;
}

export function createSendingPauses(db: Database, onError: (error: unknown) => void): SendingPauses {
  /** The nil UUID stands for everybody. */
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
