import {
  type DeliveryPolicy,
  type QueueCounts,
  type Stats,
  type StatsPart,
  statsCountLimit,
} from '@enterprise-api/shared/contracts';
import {
  type Database,
  type DatabaseTransaction,
  isStatementTimeout,
  markSavepoint,
  returnToSavepoint,
} from '@enterprise-api/shared/ledger';
import { type Clock, toPublicId } from '@enterprise-api/shared/runtime';
import {
  readLately,
  readMonths,
  readOutbox,
  readPauses,
  readRetention,
  readSnapshot,
  readWaiting,
  readWebhooks,
  readWorkerPolicies,
} from './stats-queries.ts';

export interface StatsReaderOptions {
  db: Database;
  /** The database's clock. */
  clock: Clock;
  deliveryPolicy: DeliveryPolicy;
  /** Null if the queue does not answer in time. */
  countJobs: () => Promise<QueueCounts[] | null>;
}

export type StatsReader = ReturnType<typeof createStatsReader>;

/**
 * Reads the figures that an operator needs first. Every count is limited, so the cost is the same at any backlog. A
 * part that does not answer in time is null, so that the operator still gets the other parts.
 */
export function createStatsReader({ db, clock, deliveryPolicy, countJobs }: StatsReaderOptions) {
  return {
    read: async (): Promise<Stats> => {
      const now = clock.now();
      const [{ parts, unanswered }, queues] = await Promise.all([
        readSnapshot(db, (trx) => readInTime(trx, clock, ledgerParts(trx, now, deliveryPolicy))),
        countJobs(),
      ]);
      return {
        object: 'stats',
        at: new Date(now).toISOString(),
        counts_stop_at: statsCountLimit,
        unanswered: queues === null ? [...unanswered, 'queues'] : unanswered,
        ...parts,
        queues,
      };
    },
  };
}

/** First reads the parts that are cheap and the parts that show a fault. */
function ledgerParts(trx: DatabaseTransaction, now: number, deliveryPolicy: DeliveryPolicy) {
  return {
    sending: () => presentPauses(trx),
    outbox: () => readOutbox(trx),
    deliveries: () => readWaiting(trx),
    webhooks: () => readWebhooks(trx),
    last_minute: () => readLately(trx, now, 60),
    last_hour: () => readLately(trx, now, 3_600),
    partitions: () => readMonths(trx),
    retention: () => presentRetention(trx),
    delivery_policy: () => comparePolicies(trx, deliveryPolicy),
  } satisfies { [Part in Exclude<StatsPart, 'queues'>]: () => Promise<NonNullable<Stats[Part]>> };
}

async function presentPauses(trx: DatabaseTransaction): Promise<NonNullable<Stats['sending']>> {
  const { since, count, named } = await readPauses(trx);
  return {
    paused: since !== null,
    since: since?.toISOString() ?? null,
    paused_organizations: count,
    organizations: named.map(({ organization_id, paused_at }) => ({
      organization_id: toPublicId('org', organization_id),
      since: paused_at.toISOString(),
    })),
  };
}

async function presentRetention(trx: DatabaseTransaction): Promise<NonNullable<Stats['retention']>> {
  const retention = await readRetention(trx);
  return {
    bodies_removed_until: retention?.bodies_removed_until?.toISOString() ?? null,
    keys_removed_until: retention?.keys_removed_until?.toISOString() ?? null,
    completed_at: retention?.completed_at?.toISOString() ?? null,
    kept_months: retention?.kept_months ?? 0,
  };
}

async function comparePolicies(trx: DatabaseTransaction, own: DeliveryPolicy) {
  const fields = Object.keys(own) as (keyof DeliveryPolicy)[];
  const reported = (await readWorkerPolicies(trx)).map(({ policy, workers }) => ({
    workers,
    differing: fields.filter((field) => JSON.stringify(policy[field]) !== JSON.stringify(own[field])),
  }));
  const differing = reported.filter((each) => each.differing.length > 0);
  return {
    workers: sumOf(reported),
    differing_workers: sumOf(differing),
    differing_fields: fields.filter((field) => differing.some((each) => each.differing.includes(field))),
  };
}

const sumOf = (reported: readonly { workers: number }[]) => reported.reduce((sum, { workers }) => sum + workers, 0);

/** No further part starts after this time. A running part may exceed this time by its statement timeout. */
const beginWithinMs = 6_000;

type Reads = Readonly<Record<string, () => Promise<object>>>;

type Parts<Read extends Reads> = { [Name in keyof Read]: Awaited<ReturnType<Read[Name]>> | null };

/**
 * Reads the parts sequentially within a transaction. A statement timeout ends only the part of that statement.
 *
 * @throws any error other than a statement timeout, such as a lost connection
 */
export async function readInTime<Read extends Reads>(
  trx: DatabaseTransaction,
  clock: Pick<Clock, 'monotonic'>,
  reads: Read,
): Promise<{ parts: Parts<Read>; unanswered: (keyof Read)[] }> {
  const begunAt = clock.monotonic();
  const parts = new Map<keyof Read, object | null>();
  for (const [name, read] of Object.entries(reads)) {
    const isLate = clock.monotonic() - begunAt > beginWithinMs;
    parts.set(name, isLate ? null : await readPart(trx, read));
  }
  const unanswered = [...parts].filter(([, part]) => part === null).map(([name]) => name);
  return { parts: Object.fromEntries(parts) as Parts<Read>, unanswered };
}

async function readPart(trx: DatabaseTransaction, read: () => Promise<object>): Promise<object | null> {
  await markSavepoint(trx);
  try {
    return await read();
  } catch (error) {
    if (!isStatementTimeout(error)) throw error;
    await returnToSavepoint(trx);
    return null;
  }
}
