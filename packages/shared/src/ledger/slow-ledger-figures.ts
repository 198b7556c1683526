import { sql } from 'kysely';
import { countLimit, type LedgerGauge } from './ledger-figures.ts';
import { monthsAhead } from './partitions.ts';
import { partitionedTables } from './storage.ts';

/**
 * The minimum time between two reads of these gauges by a process: reading a hundred thousand webhooks takes tens of
 * milliseconds.
 */
export const slowFiguresEveryMs = 60_000;

const expiringKeys = sql`
  select count(*) from (
    select from api_keys
    where revoked_at is null and expires_at > now() and expires_at < now() + interval '7 days'
      and last_used_at > now() - interval '7 days'
    limit ${countLimit}
  ) k`;

/** Counts the months between the current one and the first month for which a table lacks a partition. */
const monthsAheadOfNow = sql`
  select coalesce(min(month) - 1, ${monthsAhead})::int
  from generate_series(1, ${monthsAhead}) month, unnest(${sql.val([...partitionedTables])}::text[]) parent
  where not exists (
    select from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = parent::regclass
      and c.relname = parent || to_char(date_trunc('month', now() at time zone 'utc') + month * interval '1 month', '_YYYY_MM'))`;

const webhooksOf = (state: 'enabled' | 'disabled') => ({
  name: 'ledger_webhooks',
  help: 'Webhooks by state.',
  labels: { state },
  value: sql`
    select count(*) from (select state from webhooks limit ${countLimit}) w where state = ${sql.lit(state)}`,
});

/** Gauges that require a read of each webhook, or that change only daily. */
export const slowLedgerGauges = {
  webhooks: { enabled: webhooksOf('enabled'), disabled: webhooksOf('disabled') },
  breakers: {
    open: {
      name: 'ledger_open_breakers',
      help: 'Webhooks whose circuit is open.',
      value: sql`select count(*) from (select from webhook_health where open_until > now() limit ${countLimit}) h`,
    },
  },
  keys: {
    expiring: {
      name: 'ledger_api_keys_expiring',
      help: 'API keys that expire within 7 days, of those used within 7 days.',
      value: expiringKeys,
    },
  },
  partitions: {
    monthsAhead: {
      name: 'ledger_partitions_ahead_months',
      help: 'Months after this one whose partitions exist. At 0 every event is refused when this month ends.',
      value: monthsAheadOfNow,
    },
  },
} as const satisfies Record<string, Record<string, LedgerGauge>>;
