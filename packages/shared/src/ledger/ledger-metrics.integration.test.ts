import { insertOrganization, insertWebhook, openTestDatabase, until } from '@enterprise-api/testkit';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { createMetrics, newUuid, nilUuid, systemClock, type Uuid } from '../runtime/index.ts';
import { createDatabase, poolFiguresOf } from './database.ts';
import { createDatabaseClock } from './database-clock.ts';
import { countLimit, ledgerGauges, readGauges } from './ledger-figures.ts';
import { registerLedgerMetrics } from './ledger-metrics.ts';
import { ensurePartitions, partitionName } from './partitions.ts';
import { slowLedgerGauges } from './slow-ledger-figures.ts';

let opened: Awaited<ReturnType<typeof openTestDatabase>>;
beforeAll(async () => {
  opened = await openTestDatabase();
});
afterAll(() => opened.close());

describe('the figures of a pool', () => {
  it('count statements that wait because every connection is in use, and no others', async () => {
    const db = createDatabase({ url: opened.url, applicationName: 'test', poolSize: 1 });
    await sql`select 1`.execute(db);
    expect(poolFiguresOf(db)).toEqual({ used: 0, idle: 1, max: 1, waiting: 0 });
    const onIdleConnection = sql`select 1`.execute(db);
    expect(poolFiguresOf(db)).toMatchObject({ waiting: 0 });
    await onIdleConnection;
    // In an object, or the connection would be kept until they have ended.
    const { waiting } = await db.connection().execute(async (held) => {
      await sql`select 1`.execute(held);
      const started = [sql`select 1`.execute(db), sql`select 1`.execute(db)];
      // They ask for their connection a turn later.
      await sql`select 1`.execute(held);
      expect(poolFiguresOf(db)).toEqual({ used: 1, idle: 0, max: 1, waiting: 2 });
      return { waiting: started };
    });
    await Promise.all(waiting);
    await db.destroy();
  });
});

describe('overdue deliveries', () => {
  const overdue = async () => (await readGauges(opened.db, ledgerGauges.deliveries)).overdue;
  const pause = (organizationId: Uuid) =>
    sql`insert into sending_pauses (organization_id) values (${organizationId})`.execute(opened.db);
  const resume = (organizationId: Uuid) =>
    sql`delete from sending_pauses where organization_id = ${organizationId}`.execute(opened.db);
  const insertDue = (organizationId: Uuid, count: number, minutesAgo: number) =>
    sql`insert into pending_deliveries (delivery_id, webhook_id, organization_id, event_id, event_type, max_attempts, next_attempt_at)
      select gen_random_uuid(), ${newUuid()}, ${organizationId}, ${newUuid()}, 'batch.failed', 3, now() - make_interval(mins => ${minutesAgo})
      from generate_series(1, ${count}::int)`.execute(opened.db);
  afterEach(() => sql`truncate pending_deliveries, sending_pauses, webhook_controls`.execute(opened.db));

  it('count deliveries due for a minute, except where an operator paused one organization or all', async () => {
    const [paused, other] = [newUuid(), newUuid()];
    await insertDue(paused, 3, 2);
    await insertDue(other, 2, 2);
    await insertDue(other, 1, 0);
    expect(await overdue()).toBe(5);
    await pause(paused);
    expect(await overdue()).toBe(2);
    await pause(nilUuid);
    expect(await overdue()).toBe(0);
    await resume(paused);
    expect(await overdue()).toBe(0);
    await resume(nilUuid);
    expect(await overdue()).toBe(5);
  });

  it.each([
    ['is paused', { paused_since: '2026-01-01', resume_at: 'infinity' }, 0],
    ['was paused', { paused_since: '2026-01-01', resume_at: '2026-01-02' }, 1],
    ['is held by its receiver', { held_until: 'infinity' }, 0],
    ['has a limit', { rate_limit_per_second: 1 }, 0],
  ])('do not include deliveries of a webhook that %s', async (_, controls, expected) => {
    await insertDue(newUuid(), 1, 2);
    await sql`insert into webhook_controls (webhook_id, paused_since, resume_at, held_until, rate_limit_per_second)
      select p.webhook_id, c.* from pending_deliveries p
      cross join json_to_record(${JSON.stringify(controls)}) as c (paused_since timestamptz, resume_at timestamptz, held_until timestamptz, rate_limit_per_second int)`.execute(
      opened.db,
    );
    expect(await overdue()).toBe(expected);
  });

  it('are not hidden by what was held back before them, however much that is', async () => {
    const [paused, other] = [newUuid(), newUuid()];
    await insertDue(paused, countLimit, 60);
    await insertDue(other, 2, 2);
    await pause(paused);
    expect(await overdue()).toBe(2);
  });
});

describe('while a table is locked', () => {
  it('the gauges of other tables are read, and the age shows that some are not', async () => {
    const registry = createMetrics('test', undefined);
    registerLedgerMetrics(registry, createDatabaseClock(systemClock), opened.db);
    const read = async (name: string) =>
      Number(new RegExp(`^${name}\\{.* (\\S+)$`, 'm').exec(await registry.metrics())?.[1]?.replace('Inf', 'Infinity'));
    await opened.db.transaction().execute(async (trx) => {
      await sql`lock table outbox in access exclusive mode`.execute(trx);
      const seesPartitions = async () => {
        await sql`select 'not idle'`.execute(trx);
        return (await read('ledger_partitions_ahead_months')) === 2;
      };
      await until('the partitions are counted', seesPartitions);
      expect(await read('ledger_figures_age_seconds')).toBe(Number.POSITIVE_INFINITY);
    });
    await until('all are read', async () => (await read('ledger_figures_age_seconds')) < 60);
  });
});

describe('the slow figures of the ledger', () => {
  it('count webhooks by state, and those whose circuit is open', async () => {
    const { db } = opened;
    const organizationId = await insertOrganization(db);
    const add = () => insertWebhook(db, { organizationId, url: 'https://example.com/hook' });
    const [open, closed, disabled, deleted] = [await add(), await add(), await add(), await add()];
    await sql`update webhooks set state = 'disabled', disabled_reason = 'gone' where id = ${disabled}`.execute(db);
    await sql`update webhooks set state = 'deleted' where id = ${deleted}`.execute(db);
    await sql`insert into webhook_health (webhook_id, open_until)
      values (${open}, now() + interval '1 minute'), (${closed}, now() - interval '1 minute')`.execute(db);
    expect(await readGauges(db, slowLedgerGauges.webhooks)).toEqual({ enabled: 2, disabled: 1 });
    expect(await readGauges(db, slowLedgerGauges.breakers)).toEqual({ open: 1 });
  });

  it('count the keys that expire within seven days, of those used within seven days', async () => {
    const { db } = opened;
    const organizationId = await insertOrganization(db);
    const add = (expires: string, used: string, revoked = 'null') =>
      sql`insert into api_keys (id, organization_id, name, public_id, hash, scopes, expires_at, last_used_at, revoked_at)
        select id, ${organizationId}, 'k', '', uuid_send(id), '{}', ${sql.raw(expires)}, ${sql.raw(used)}, ${sql.raw(revoked)}
        from gen_random_uuid() id`.execute(db);
    const [soon, lately] = [`now() + interval '6 days'`, `now() - interval '6 days'`];
    await add(soon, lately);
    await add(`now() + interval '8 days'`, lately);
    await add(`now() - interval '1 minute'`, lately);
    await add('null', lately);
    await add(soon, `now() - interval '8 days'`);
    await add(soon, 'null');
    await add(soon, lately, 'now()');
    expect(await readGauges(db, slowLedgerGauges.keys)).toEqual({ expiring: 1 });
  });

  it('count the months ahead of the table that has the fewest, up to the first gap', async () => {
    const { db } = opened;
    const now = new Date();
    await ensurePartitions(db, now);
    const monthsAhead = async () => (await readGauges(db, slowLedgerGauges.partitions)).monthsAhead;
    const drop = (table: 'events' | 'attempts', ahead: number) => {
      const name = partitionName(table, Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + ahead, 1));
      return sql`drop table ${sql.table(name)}`.execute(db);
    };
    expect(await monthsAhead()).toBe(2);
    await drop('attempts', 2);
    expect(await monthsAhead()).toBe(1);
    await drop('events', 1);
    expect(await monthsAhead()).toBe(0);
  });
});
