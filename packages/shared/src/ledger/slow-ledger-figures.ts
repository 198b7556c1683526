import { sql } from 'kysely';
import type { Database } from './database.ts';
import { countLimit } from './ledger-figures.ts';
import { monthsAhead } from './partitions.ts';
import { partitionedTables } from './storage.ts';

/** Figures that require a read of each webhook, or that change only daily. */
export interface SlowLedgerFigures {
  /** Webhooks whose circuit breaker is open, counted up to {@link countLimit}. */
  openBreakers: number;
  /** Webhooks in this state among the first {@link countLimit} rows. No figure counts deleted webhooks. */
  enabledWebhooks: number;
  disabledWebhooks: number;
  /** API keys that expire within seven days and were used within seven days, counted up to {@link countLimit}. */
  expiringKeys: number;
  /** How many of the next months have partitions without a gap, in the table that has the fewest; at most two. */
  monthsAhead: number;
}

/**
 * The minimum time between two reads of these figures by a process: reading a hundred thousand webhooks takes tens of
 * milliseconds.
 */
export const slowFiguresEveryMs = 60_000;

export const slowLedgerGauges = {
  openBreakers: { name: 'ledger_open_breakers', help: 'Webhooks whose circuit is open.' },
  enabledWebhooks: { name: 'ledger_webhooks', help: 'Webhooks by state.', labels: { state: 'enabled' } },
  disabledWebhooks: { name: 'ledger_webhooks', help: 'Webhooks by state.', labels: { state: 'disabled' } },
  expiringKeys: {
    name: 'ledger_api_keys_expiring',
    help: 'API keys that expire within 7 days, of those used within 7 days.',
  },
  monthsAhead: {
    name: 'ledger_partitions_ahead_months',
    help: 'Months after this one whose partitions exist. At 0 every event is refused when this month ends.',
  },
} as const;

export async function slowLedgerFigures(db: Database): Promise<SlowLedgerFigures> {
  const { rows } = await sql<SlowLedgerFigures>`
    with listed as (select state from webhooks limit ${countLimit})
    select (select count(*) from (select from webhook_health where open_until > now() limit ${countLimit}) h)
        as "openBreakers",
      count(*) filter (where state = 'enabled') as "enabledWebhooks",
      count(*) filter (where state = 'disabled') as "disabledWebhooks",
      (${expiringKeys}) as "expiringKeys", (${monthsAheadOfNow}) as "monthsAhead"
    from listed`.execute(db);
  return rows[0] ?? { openBreakers: 0, enabledWebhooks: 0, disabledWebhooks: 0, expiringKeys: 0, monthsAhead: 0 };
}

const expiringKeys = sql`
  select count(*) from (
    select from api_keys
    where revoked_at is null and expires_at > now() and expires_at < now() + interval '7 days'
      and last_used_at > now() - interval '7 days'
    limit ${countLimit}
  ) k`;

/** Counts the months between the current one and the first month for which a table lacks a partition. */
const monthsAheadOfNow = sql<number>`
  select coalesce(min(month) - 1, ${monthsAhead})::int
  from generate_series(1, ${monthsAhead}) month, unnest(${sql.val([...partitionedTables])}::text[]) parent
  where not exists (
    select from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = parent::regclass
      and c.relname = parent || to_char(date_trunc('month', now() at time zone 'utc') + month * interval '1 month', '_YYYY_MM'))`;
