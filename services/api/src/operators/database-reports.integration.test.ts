import { fromPublicId, newUuid, toPublicId } from '@enterprise-api/shared/runtime';
import { insertOrganization, insertWebhook, untilLockWait } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { startTestApi, type TestApi } from '../testing/test-api.ts';
import { ledgerTables, readSlowStatements } from './database-queries.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({ environment: { INTERNAL_EVENTS_SECRET: 'e'.repeat(32) } });
});
afterAll(() => api.stop());

const read = async (report: string) => (await api.internal('get', `/internal/v1/database/${report}`).expect(200)).body;

describe.each(['locks', 'statements', 'sizes'])('GET /internal/v1/database/%s', (report) => {
  it('401 without a secret, 403 with one that opens less', async () => {
    const ask = (secret: string) =>
      api.internal('get', `/internal/v1/database/${report}`).set('Authorization', `Bearer ${secret}`);
    await ask('wrong').expect(401);
    await ask('e'.repeat(32)).expect(403);
  });
});

/** Runs while one session of this name holds a row, and another waits for it with this literal in its statement. */
async function whileBlocked(application: string, look: () => Promise<void>) {
  const organizationId = await insertOrganization(api.db);
  const hold = (trx: typeof api.db) =>
    sql`select set_config('application_name', ${application}, true)`
      .execute(trx)
      .then(() => sql.raw(`update organizations set name = 'secret' where id = '${organizationId}'`).execute(trx));
  await api.db
    .transaction()
    .execute(async (holder) => {
      await hold(holder);
      const waiting = api.db.transaction().execute((trx) => hold(trx));
      await untilLockWait(api.db);
      await look();
      return { waiting };
    })
    .then(({ waiting }) => waiting);
}

describe('GET /internal/v1/database/locks', () => {
  it('200 with who waits and who blocks, and no literal', async () => {
    await whileBlocked('enterprise-api-test', async () => {
      const { object, sessions } = await read('locks');
      expect(object).toBe('database_locks');
      const waiting = sessions.find(({ blocked_by }: { blocked_by: number[] }) => blocked_by.length > 0);
      expect(waiting).toMatchObject({
        application: 'enterprise-api-test',
        waits_for: expect.stringMatching(/^Lock:/),
        statement: 'update organizations set name = ? where id = ?',
      });
      expect(sessions).toContainEqual(
        expect.objectContaining({ pid: waiting.blocked_by[0], state: 'idle in transaction', blocked_by: [] }),
      );
    });
  });

  it('200 without the statements of other programs', async () => {
    await whileBlocked('backup of somebody', async () => {
      const { sessions } = await read('locks');
      const waiting = sessions.find(({ blocked_by }: { blocked_by: number[] }) => blocked_by.length > 0);
      expect(waiting).toMatchObject({ application: 'backup of somebody', statement: null });
      expect(JSON.stringify(await read('statements'))).not.toContain('update organizations');
    });
  });
});

describe('GET /internal/v1/database/statements', () => {
  it('200 with our connections and what they do; it says that the statistics are missing', async () => {
    await whileBlocked('enterprise-api-test', async () => {
      const found = await read('statements');
      expect(found.connections).toContainEqual({ application: 'enterprise-api-test', state: 'active', count: 1 });
      expect(found.running.map(({ statement }: { statement: string }) => statement)).toContain(
        'update organizations set name = ? where id = ?',
      );
      expect(found).toMatchObject({ max_connections: expect.any(Number), slowest: null });
      expect(found.slowest_missing).toContain('pg_stat_statements');
    });
  });

  it('reads statements of our role on this database about our tables alone', async () => {
    await sql`create schema statistics`.execute(api.db);
    await sql`create table statistics.pg_stat_statements (query text, calls bigint, total_exec_time float8,
      mean_exec_time float8, rows bigint, shared_blks_read bigint, dbid oid, userid oid)`.execute(api.db);
    const insert = (query: string, [db, role] = ['current_database()', 'current_user']) =>
      sql`insert into statistics.pg_stat_statements select ${query}, 2, 3, 1.5, 4, 5,
        (select oid from pg_database where datname = ${sql.raw(db)}),
        (select oid from pg_roles where rolname = ${sql.raw(role)})`.execute(api.db);
    await insert('select * from webhooks where id = $1');
    await insert('select * from invoices');
    await insert(`create role webhooks password 'x'`);
    await insert('select * from deliveries', [`'template1'`, 'current_user']);
    await insert('select * from events', ['current_database()', `'pg_monitor'`]);
    expect(await readSlowStatements(api.db, 'statistics')).toEqual([
      {
        statement: 'select * from webhooks where id = $1',
        calls: 2,
        total_ms: 3,
        mean_ms: 1.5,
        rows: 4,
        disk_blocks: 5,
      },
    ]);
  });
});

describe('GET /internal/v1/database/sizes', () => {
  it('knows every table of the ledger', async () => {
    const { rows } = await sql<{ name: string }>`select c.relname as name from pg_class c
      where c.relnamespace = 'events'::regclass::oid::regclass::oid or (c.relkind in ('r', 'p') and not c.relispartition
        and c.relnamespace = (select relnamespace from pg_class where oid = 'events'::regclass))`.execute(api.db);
    const migrations = ['ledger_migrations', 'ledger_migrations_lock'];
    const names = rows.map(({ name }) => name).filter((name) => !/^(kysely|.*migration)/.test(name));
    expect(names.filter((name) => !migrations.includes(name)).sort()).toEqual([...ledgerTables].sort());
  });

  it('200 with the tables, and who has most of what waits', async () => {
    const organizationId = await insertOrganization(api.db);
    const paused = await insertOrganization(api.db);
    const [webhookId, other] = [
      await insertWebhook(api.db, { organizationId }),
      await insertWebhook(api.db, { organizationId: paused }),
    ];
    const [often, event] = [newUuid(), newUuid()];
    const insertOverdue = (id: string, organization: string, webhook: string, leases: number) =>
      sql`insert into pending_deliveries (delivery_id, webhook_id, organization_id, event_id, event_type, max_attempts, next_attempt_at, lease_count)
        values (${id}, ${webhook}, ${organization}, ${id}, 'batch.failed', 3, now() - interval '2 minutes', ${leases})`.execute(
        api.db,
      );
    await insertOverdue(often, organizationId, webhookId, 4);
    await insertOverdue(newUuid(), paused, other, 0);
    await sql`insert into sending_pauses (organization_id) values (${paused})`.execute(api.db);
    await sql`insert into outbox (event_id, organization_id) select gen_random_uuid(), ${organizationId} from generate_series(1, 3)`.execute(
      api.db,
    );
    await sql`insert into parked_events (event_id, organization_id, created_at, reason, failures, retry_at)
      values (${event}, ${organizationId}, now(), '23514 deliveries_check', 2, now())`.execute(api.db);

    const sizes = await read('sizes');
    const organization_id = toPublicId('org', organizationId);
    expect(sizes).toMatchObject({ object: 'database_sizes', bytes: expect.any(Number) });
    expect(sizes.tables.map(({ name }: { name: string }) => name).sort()).toEqual([...ledgerTables].sort());
    const deliveries = sizes.tables.find(({ name }: { name: string }) => name === 'deliveries');
    expect(deliveries.newest_partition > deliveries.oldest_partition).toBe(true);
    expect(deliveries.bytes).toBeGreaterThan(0);
    expect(sizes.outbox).toEqual([{ organization_id, events: 3, oldest_at: expect.any(String) }]);
    expect(sizes.overdue).toEqual([
      { webhook_id: toPublicId('whk', webhookId), organization_id, deliveries: 1, due_since: expect.any(String) },
    ]);
    expect(sizes.leased_often).toEqual([{ delivery_id: toPublicId('dlv', often), leases: 4 }]);
    expect(sizes.parked_events).toMatchObject([{ organization_id, reason: '23514 deliveries_check', failures: 2 }]);
    expect(fromPublicId('evt', sizes.parked_events[0].event_id)).toBe(event);
  });

  it('200 while a table is locked, without the parts that read it', async () => {
    await api.db.transaction().execute(async (trx) => {
      await sql`lock table pending_deliveries in access exclusive mode`.execute(trx);
      const sizes = await read('sizes');
      expect(sizes).toMatchObject({ overdue: null, leased_often: null, tables: null });
      expect(sizes).toMatchObject({ outbox: expect.any(Array), parked_events: expect.any(Array) });
    });
  });
});
