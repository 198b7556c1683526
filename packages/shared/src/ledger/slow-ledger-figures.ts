import { sql } from 'kysely';
import type { Database } from './database.ts';
import { countLimit } from './ledger-figures.ts';
import { partitionedTables } from './storage.ts';

/** Figures of the ledger that read a row of each webhook, or change daily. */
export interface SlowLedgerFigures {
  /** Webhooks whose circuit is open, counted up to {@link countLimit}. */
  openBreakers: number;
  /** Webhooks by state, of the first {@link countLimit}; deleted ones are left out. */
  enabledWebhooks: number;
  disabledWebhooks: number;
  /** Whole months after this one that have partitions, without a gap, in the table that has the fewest. */
  monthsAhead: number;
}

/** How often a process reads them at most: a hundred thousand webhooks take tens of milliseconds. */
export const slowFiguresEveryMs = 60_000;

/** How these figures appear in `/metrics`, on both services. */
export const slowLedgerGauges = {
  openBreakers: { name: 'ledger_open_breakers', help: 'Webhooks whose circuit is open.' },
  enabledWebhooks: { name: 'ledger_webhooks', help: 'Webhooks by state.', labels: { state: 'enabled' } },
  disabledWebhooks: { name: 'ledger_webhooks', help: 'Webhooks by state.', labels: { state: 'disabled' } },
  monthsAhead: {
    name: 'ledger_partitions_ahead_months',
    help: 'Months after this one whose partitions exist. At 0 every event is refused when this month ends.',
  },
} as const;

/** No more than this many months are looked for; two are created ahead. */
const monthsLookedFor = 12;

export async function slowLedgerFigures(db: Database): Promise<SlowLedgerFigures> {
  const { rows } = await sql<SlowLedgerFigures>`
    with listed as (select state from webhooks limit ${countLimit})
    select (select count(*) from (select from webhook_health where open_until > now() limit ${countLimit}) h)
        as "openBreakers",
      count(*) filter (where state = 'enabled') as "enabledWebhooks",
      count(*) filter (where state = 'disabled') as "disabledWebhooks",
      (${monthsAheadOfNow}) as "monthsAhead"
    from listed`.execute(db);
  return rows[0] ?? { openBreakers: 0, enabledWebhooks: 0, disabledWebhooks: 0, monthsAhead: 0 };
}

/** One less than the first month, counted from this one, that a table has no partition for. */
const monthsAheadOfNow = sql<number>`
  select coalesce(min(month) - 1, ${monthsLookedFor})::int
  from generate_series(1, ${monthsLookedFor}) month, unnest(${sql.val([...partitionedTables])}::text[]) parent
  where not exists (
    select from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = parent::regclass
      and c.relname = parent || to_char(date_trunc('month', now() at time zone 'utc') + month * interval '1 month', '_YYYY_MM'))`;
