import { createDatabase, type Database, ensurePartitions } from '@enterprise-api/shared/ledger';
import { newUuid, toPublicId, type Uuid } from '@enterprise-api/shared/runtime';
import {
  createApiClient,
  createTestDatabase,
  insertOrganization,
  insertWebhook,
  openStage,
  type Receiver,
  type Stage,
  type TestDatabase,
  until,
} from '@enterprise-api/testkit';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import { migrations } from '../../packages/shared/src/ledger/migrations/index.ts';

/** The last migration before those that move what is pending and prepare for retention. */
const versionBefore = '0018-event-positions';
/** Columns of deliveries whose content is in `pending_deliveries` now. */
const moved = ['next_attempt_at', 'lease_count'];

type Rows = Record<string, Record<string, unknown>[]>;

let database: TestDatabase;
let stage: Stage;
let receiver: Receiver;
let organizationId: Uuid;
let webhookId: Uuid;
let before: Rows;
let after: Rows;

beforeAll(async () => {
  database = await createTestDatabase();
  const db = createDatabase({ url: database.url, applicationName: 'test', poolSize: 2 });
  await sql`drop schema public cascade`.execute(db);
  await sql`create schema public`.execute(db);
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } });
  const { error } = await migrator.migrateTo(versionBefore);
  if (error) throw error;
  await ensurePartitions(db, new Date());
  organizationId = await insertOrganization(db);
  webhookId = await insertWebhook(db, { organizationId, url: 'https://example.com' });
  await insertEveryKind(db);
  before = await allRows(db);
  stage = await openStage({ redisUrl: undefined, databaseUrl: database.url });
  after = await allRows(db);
  await db.destroy();
  receiver = await stage.startReceiver();
  await sql`update webhooks set url = ${receiver.url()}`.execute(stage.db);
});
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
  await database.drop();
});

/** Rows of every table that the ledger had, and of every state of a delivery. */
async function insertEveryKind(db: Database): Promise<void> {
  const waiting = await insertEvent(db);
  await sql`insert into outbox (event_id, organization_id) values (${waiting}, ${organizationId})`.execute(db);
  const parked = await insertEvent(db);
  await sql`insert into parked_events (event_id, organization_id, created_at, reason, failures, retry_at)
    values (${parked}, ${organizationId}, now(), 'refused', 3, now() + interval '1 day')`.execute(db);
  await insertDelivery(db, 'pending', sql`now() - interval '1 minute'`);
  await insertDelivery(db, 'pending', sql`now() + interval '1 day'`);
  for (const status of ['succeeded', 'failed', 'canceled']) await insertDelivery(db, status, sql`null`);
  await sql`insert into attempts (delivery_id, id, number, round, superseded, started_at, duration_ms, status_code, webhook_version)
    select id, gen_random_uuid(), 1, 0, false, now(), 12, 503, 1 from deliveries where status = 'failed'`.execute(db);
  await sql`insert into webhook_health (webhook_id, failed_attempts) values (${webhookId}, 1)`.execute(db);
  await sql`insert into idempotency_keys (id, organization_id, fingerprint, status, headers)
    values ('\\x01', ${organizationId}, '\\x02', 201, '{}')`.execute(db);
  await sql`insert into audit_log (id, actor, action, object_type, object_id, organization_id, changed_fields)
    values (${newUuid()}, 'internal', 'webhook.created', 'webhook', ${webhookId}, ${organizationId}, '{url}')`.execute(
    db,
  );
  await sql`insert into usage_ledger (organization_id, hour, events, deliveries, attempts)
    values (${organizationId}, date_trunc('hour', now()) - interval '1 day', 1, 2, 3)`.execute(db);
}

async function insertEvent(db: Database): Promise<Uuid> {
  const id = newUuid();
  await sql`insert into events (id, organization_id, type, body) values (${id}, ${organizationId}, 'batch.failed', '{"data":{}}')`.execute(
    db,
  );
  await sql`insert into event_keys (organization_id, key, event_id, event_type)
    values (${organizationId}, ${`key of ${id}`}, ${id}, 'batch.failed')`.execute(db);
  return id;
}

async function insertDelivery(db: Database, status: string, dueAt: ReturnType<typeof sql>): Promise<void> {
  const eventId = await insertEvent(db);
  await sql`insert into deliveries (id, organization_id, webhook_id, event_id, event_type, status, attempt_count, max_attempts,
      next_attempt_at, completed_at, delivered_by, delivered_version)
    values (delivery_id(${eventId}, ${webhookId}), ${organizationId}, ${webhookId}, ${eventId}, 'batch.failed', ${status},
      ${status === 'pending' ? 0 : 1}, 3, ${dueAt}, ${status === 'pending' ? null : new Date()},
      ${status === 'succeeded' ? newUuid() : null}, ${status === 'succeeded' ? 1 : null})`.execute(db);
}

/** The rows of all tables, by table; those of partitions with their table. */
async function allRows(db: Database): Promise<Rows> {
  const { rows: tables } = await sql<{ name: string }>`
    select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
      and not relispartition and relname not like 'kysely%' and relname not like 'bullmq%' order by 1`.execute(db);
  const found: Rows = {};
  for (const { name } of tables) {
    const { rows } = await sql<{
      row: Record<string, unknown>;
    }>`select to_jsonb(t) as row from ${sql.table(name)} t`.execute(db);
    found[name] = rows.map(({ row }) => row);
  }
  return found;
}

const withoutMoved = (row: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(row).filter(([column]) => !moved.includes(column)));

it('an upgrade keeps every row of every table as it was', () => {
  const filled = Object.entries(before).filter(([, rows]) => rows.length > 0);
  expect(filled.map(([table]) => table)).toEqual(
    expect.arrayContaining(['events', 'event_keys', 'outbox', 'parked_events', 'deliveries', 'attempts', 'audit_log']),
  );
  for (const [table, rows] of filled) {
    const kept = rows.map((row) => expect.objectContaining(table === 'deliveries' ? withoutMoved(row) : row));
    expect([table, after[table]]).toEqual([table, expect.arrayContaining(kept)]);
    expect([table, after[table]?.length]).toEqual([table, rows.length]);
  }
  const due = (before.deliveries ?? []).filter(({ status }) => status === 'pending');
  const waits = due.map(({ id, next_attempt_at }) => expect.objectContaining({ delivery_id: id, next_attempt_at }));
  expect(after.pending_deliveries).toEqual(expect.arrayContaining(waits));
  expect(after.pending_deliveries).toHaveLength(2);
});

it('after an upgrade what was due is sent, what waited is fanned out, and the history has what it had', async () => {
  await stage.startWorker();
  await until('both are delivered', () => receiver.requests.length, { holds: (count) => count >= 2, withinMs: 30_000 });
  const api = await stage.startApi();
  const { secret: key } = await createApiClient(api).createKey(toPublicId('org', organizationId));
  const { call } = createApiClient(api, { key });
  const list = async (path: string) => (await call('GET', path)).body.data as { id: string }[];
  const deliveries = await list('/v1/webhooks/deliveries');
  const events = await list('/v1/events');
  // Five of before, and that of the event in the outbox.
  expect(deliveries).toHaveLength(6);
  expect(events).toHaveLength(7);
  const old = (before.deliveries ?? []).map(({ id }) => toPublicId('dlv', id as Uuid));
  expect(deliveries.map(({ id }) => id)).toEqual(expect.arrayContaining(old));
});
