import type { Database } from '@enterprise-api/shared/ledger';

const tables = [
  'organizations',
  'webhooks',
  'webhook_versions',
  'deliveries',
  'events',
  'event_keys',
  'outbox',
  'audit_log',
  'idempotency_keys',
] as const;

/** All rows that requests may write, as text to compare; without the uses of keys, which are written asynchronously. */
export async function contentsOf(db: Database): Promise<string> {
  const keys = await db.selectFrom('api_keys').selectAll().execute();
  const others = await Promise.all(tables.map((table) => db.selectFrom(table).selectAll().execute()));
  const rows = [
    ...keys.map((key) => ({ ...key, last_used_at: null, last_used_address: null, last_used_user_agent: null })),
    ...others.flat(),
  ];
  return rows
    .map((row) => JSON.stringify(row))
    .sort()
    .join('\n');
}
