import { createTestDatabase, type TestDatabase } from '@enterprise-api/testkit';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import { newUuid } from '../../runtime/ids.ts';
import { createDatabase, type Database } from '../database.ts';
import { countInvariantViolations, ledgerFigures } from '../ledger-figures.ts';
import { migrate } from '../migrate.ts';
import { ensurePartitions } from '../partitions.ts';
import { migrations } from './index.ts';

let database: TestDatabase;
let db: Database;

/** A ledger as the version before left it. */
beforeAll(async () => {
  database = await createTestDatabase();
  db = createDatabase({ url: database.url, applicationName: 'test', poolSize: 2 });
  await sql`drop schema public cascade`.execute(db);
  await sql`create schema public`.execute(db);
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } });
  const { error } = await migrator.migrateTo('0019-event-notes-only');
  if (error) throw error;
  await ensurePartitions(db, new Date());
});
afterAll(async () => {
  await db.destroy();
  await database.drop();
});

/** A delivery in a state; `dueIn` is its due time in seconds from now. */
async function insertDelivery(state: {
  status: string;
  dueIn?: number;
  leases?: number;
  attempts?: number;
  round?: number;
  type?: string;
}): Promise<string> {
  const id = newUuid();
  const { status, dueIn = null, leases = 0, attempts = 0, round = 0, type = 'batch.failed' } = state;
  await sql`insert into deliveries (id, organization_id, webhook_id, event_id, event_type, status, attempt_count, max_attempts,
      next_attempt_at, lease_count, round, manual)
    values (${id}, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), ${type}, ${status}, ${attempts}, 9,
      date_trunc('second', now()) + make_interval(secs => ${dueIn}), ${leases}, ${round}, ${round > 0})`.execute(db);
  return id;
}

it('an upgrade keeps what is pending in every state as it is, and nothing else waits', async () => {
  const pending = [
    await insertDelivery({ status: 'pending', dueIn: -3_600 }),
    await insertDelivery({ status: 'pending', dueIn: 40, leases: 1 }),
    await insertDelivery({ status: 'pending', dueIn: 3_000, leases: 7 }),
    await insertDelivery({ status: 'pending', dueIn: 86_400, attempts: 5 }),
    await insertDelivery({ status: 'pending', dueIn: -1, attempts: 9, round: 2 }),
    await insertDelivery({ status: 'pending', dueIn: -1, type: 'webhook.test' }),
  ];
  const ended: string[] = [];
  for (const status of ['succeeded', 'failed', 'canceled']) ended.push(await insertDelivery({ status }));
  const columns = sql`webhook_id, organization_id, event_id, event_type, next_attempt_at, lease_count, attempt_count,
    max_attempts, round, manual`;
  const before = await sql`select id, ${columns} from deliveries where status = 'pending' order by id`.execute(db);
  expect(before.rows).toHaveLength(pending.length);

  expect(await migrate(database.url)).toContain('0020-pending-deliveries');

  const after = await sql`select delivery_id as id, ${columns} from pending_deliveries order by delivery_id`.execute(
    db,
  );
  expect(after.rows).toEqual(before.rows);
  const statuses = await db.selectFrom('deliveries').select('status').where('id', 'in', ended).execute();
  expect(statuses.map(({ status }) => status).sort()).toEqual(['canceled', 'failed', 'succeeded']);
  expect((await ledgerFigures(db)).overdueDeliveries).toBe(1);
});

it('a delivery that is pending without waiting, or waits without being pending, breaks the invariant', async () => {
  await sql`delete from deliveries`.execute(db);
  await sql`delete from pending_deliveries`.execute(db);
  const insert = (status: string) =>
    sql`
    insert into deliveries (id, organization_id, webhook_id, event_id, event_type, status, max_attempts)
    values (${newUuid()}, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'batch.failed', ${status}, 3)`.execute(
      db,
    );
  const makePending = () =>
    sql`insert into pending_deliveries (delivery_id, webhook_id, organization_id, event_id, event_type,
      next_attempt_at, max_attempts)
    select id, webhook_id, organization_id, event_id, event_type, now(), max_attempts from deliveries`.execute(db);
  await insert('pending');
  expect(await countInvariantViolations(db, 10)).toBe(1);
  await makePending();
  expect(await countInvariantViolations(db, 10)).toBe(0);
  await sql`update pending_deliveries set round = 1`.execute(db);
  expect(await countInvariantViolations(db, 10)).toBe(1);
  await sql`update deliveries set status = 'failed'`.execute(db);
  await sql`update pending_deliveries set round = 0`.execute(db);
  expect(await countInvariantViolations(db, 10)).toBe(1);
  await sql`delete from deliveries`.execute(db);
  expect(await countInvariantViolations(db, 10)).toBe(1);
});
