import { eventPatternsFor, eventTypeNames } from '@enterprise-api/shared/contracts';
import { countInvariantViolations, type Database } from '@enterprise-api/shared/ledger';
import { sql } from 'kysely';

/** The state of the ledger after a fault: counts that must be 0, and deliveries by status. */
export interface LedgerAudit {
  /** Deliveries that break the invariant (`countInvariantViolations`). */
  violations: number;
  /** Events that were not fanned out. */
  outbox: number;
  /** Pairs of an event and an enabled, subscribed webhook without a delivery. */
  missingPairs: number;
  /** Deliveries beyond the first of a pair. */
  doublePairs: number;
  /** Deliveries by status. */
  statuses: Record<string, number>;
}

const allRows = 1_000_000;

/**
 * The audit after every fault. Valid where webhooks were made before the events and did not change: then a pair that
 * matches now matched when its event was fanned out. The set operations are deliberate: without
 * statistics on new rows, the planner probed 100,000 pairs one by one, for longer than the statement timeout.
 */
export async function auditLedger(db: Database): Promise<LedgerAudit> {
  const pairs = eventTypeNames.flatMap((type) => eventPatternsFor(type).map((pattern) => ({ type, pattern })));
  const { rows } = await sql<Omit<LedgerAudit, 'violations' | 'statuses'>>`
    with types as (
      select type, array_agg(pattern) as patterns
      from unnest(${pairs.map(({ type }) => type)}::text[],
                  ${pairs.map(({ pattern }) => pattern)}::text[]) as x(type, pattern)
      group by type
    ), pairs as materialized (
      select e.id as event_id, w.id as webhook_id from events e join types t on t.type = e.type and not e.test
      join webhooks w on w.organization_id = e.organization_id and w.state = 'enabled' and w.created_at <= e.created_at
       and w.event_patterns && t.patterns
    )
    select (select count(*) from outbox) as outbox,
      (select count(*) from (
        select event_id, webhook_id from pairs except select event_id, webhook_id from deliveries) x) as "missingPairs",
      (select count(*) from deliveries) - (select count(*) from (
        select distinct event_id, webhook_id from deliveries) x) as "doublePairs"`.execute(db);
  const statuses = await db
    .selectFrom('deliveries')
    .select(({ fn }) => ['status', fn.countAll<number>().as('count')])
    .groupBy('status')
    .execute();
  const [counted] = rows;
  if (!counted) throw new Error('The ledger did not answer.');
  return {
    ...counted,
    violations: await countInvariantViolations(db, allRows),
    statuses: Object.fromEntries(statuses.map(({ status, count }) => [status, count])),
  };
}
