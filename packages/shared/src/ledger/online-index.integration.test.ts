import { insertEvents, openTestDatabase, startPeer, testEvent, until } from '@enterprise-api/testkit';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { newUuid } from '../runtime/ids.ts';
import { createDatabase, type Database } from './database.ts';
import { migrate, pendingMigrations } from './migrate.ts';
import { migrations } from './migrations/index.ts';
import { ensurePartitions } from './partitions.ts';
import { withOnlineMigration } from './testing/online-migration.ts';
import type { MigrationCalls } from './testing/online-migration-peer.ts';

let database: Awaited<ReturnType<typeof openTestDatabase>>;
let db: Database;

beforeEach(async () => {
  database = await openTestDatabase();
  ({ db } = database);
});
afterEach(() => database.close());

const migrateOnline = () => migrate(database.url, { migrations: withOnlineMigration });
const emit = (count: number) =>
  insertEvents(
    db,
    Array.from({ length: count }, () => testEvent(newUuid())),
  );

/** A transaction that is older than the build, which waits for it. */
async function olderTransaction() {
  const held = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const other = createDatabase({ url: database.url, applicationName: 'older', poolSize: 1 });
  const ended = other.transaction().execute(async (trx) => {
    // Longer than a busy machine needs: the server ends a transaction that is idle for ten seconds.
    await sql`set local idle_in_transaction_session_timeout = 0`.execute(trx);
    await sql`set transaction isolation level repeatable read`.execute(trx);
    await sql`select from webhooks limit 1`.execute(trx);
    begun.resolve();
    await held.promise;
  });
  await begun.promise;
  const end = async () => {
    held.resolve();
    await ended;
    await other.destroy();
  };
  return { end, [Symbol.asyncDispose]: end };
}

interface Build {
  pid: number;
  index: number;
}

/** Resolves when a build waits for an older transaction. */
async function untilBuildWaits(): Promise<Build> {
  const waiting = async () => {
    const { rows } = await sql<Build>`
      select pid, index_relid as index from pg_stat_progress_create_index
      where datname = current_database() and phase like 'waiting%'`.execute(db);
    return rows[0];
  };
  return (await until('a build waits', waiting, { withinMs: 30_000 })) as Build;
}

/** Resolves when a run other than the one that builds asks for its turn. */
async function untilAnotherAsks({ pid }: Build): Promise<void> {
  const asking = async () => {
    const { rows } = await sql`
      select from pg_stat_activity where datname = current_database() and pid not in (${pid}, pg_backend_pid())
        and query ~ 'advisory_lock'`.execute(db);
    return rows.length > 0;
  };
  await until('another run asks for its turn', asking, { withinMs: 30_000 });
}

/** The indexes of the online migration, with those of partitions: whether they are valid, by their oid. */
async function indexes(): Promise<{ oid: number; name: string; valid: boolean }[]> {
  const { rows } = await sql<{ oid: number; name: string; valid: boolean }>`
    select indexrelid as oid, relname as name, indisvalid as valid from pg_index join pg_class c on c.oid = indexrelid
    where relname like '%by_request' or relname like '%by_url' or (relname like '%request_id_idx' and relkind = 'i')
    order by name`.execute(db);
  return rows;
}

async function partitionsOfEvents(): Promise<number> {
  const { rows } = await sql`select from pg_inherits where inhparent = 'events'::regclass`.execute(db);
  return rows.length;
}

/** Every partition has its part, all are valid, and the migration is recorded. */
async function expectBuilt(): Promise<void> {
  const built = await indexes();
  expect(built.filter(({ valid }) => !valid)).toEqual([]);
  expect(built).toHaveLength((await partitionsOfEvents()) + 2);
  const { rows } = await sql`select from kysely_migration where name = '9000-events-by-request'`.execute(db);
  expect(rows).toHaveLength(1);
}

describe('a migration that builds indexes online', () => {
  it('lets events be written and months be created while it builds, and indexes those too', async () => {
    await emit(20);
    let migrating: Promise<string[]>;
    {
      await using _older = await olderTransaction();
      migrating = migrateOnline();
      migrating.catch(() => undefined);
      await untilBuildWaits();
      await emit(20);
      await ensurePartitions(db, new Date(Date.now() + 200 * 86_400_000));
    }
    expect(await migrating).toEqual(['9000-events-by-request']);
    await expectBuilt();
    const { rows } = await sql<{ count: number }>`select count(*) as count from events`.execute(db);
    expect(rows).toEqual([{ count: 40 }]);
  });

  it('goes on where it was killed: what was left incomplete is dropped, what was complete stays', async () => {
    {
      await using _older = await olderTransaction();
      await using killed = await startPeer<MigrationCalls>(peer);
      const call = killed.call('migrate', database.url);
      call.catch(() => undefined);
      const build = await untilBuildWaits();
      process.kill(killed.pid, 'SIGKILL');
      await expect(call).rejects.toThrow('has ended');
      await sql`select pg_terminate_backend(${build.pid}, 20000)`.execute(db);
    }
    const left = await indexes();
    expect(left.filter(({ name, valid }) => !valid && name !== 'events_by_request')).toHaveLength(1);
    expect(await migrateOnline()).toEqual(['9000-events-by-request']);
    await expectBuilt();
    expect(await migrateOnline()).toEqual([]);
  });

  it('takes turns with another run at the same time, and neither is ended as a deadlock', async () => {
    let first: Promise<string[]>;
    let second: Promise<string[]>;
    {
      await using _older = await olderTransaction();
      first = migrateOnline();
      first.catch(() => undefined);
      const build = await untilBuildWaits();
      second = migrateOnline();
      second.catch(() => undefined);
      await untilAnotherAsks(build);
    }
    // From here on the first run builds more indexes, each of which waits for snapshots that are older.
    expect(await first).toEqual(['9000-events-by-request']);
    expect(await second).toEqual([]);
    await expectBuilt();
  });

  it('waits for the build that a killed process has left running, and does not build it twice', async () => {
    let build: Build;
    let second: Promise<string[]>;
    {
      await using _older = await olderTransaction();
      await using killed = await startPeer<MigrationCalls>(peer);
      const call = killed.call('migrate', database.url);
      call.catch(() => undefined);
      build = await untilBuildWaits();
      process.kill(killed.pid, 'SIGKILL');
      await expect(call).rejects.toThrow('has ended');
      second = migrateOnline();
      second.catch(() => undefined);
      expect((await untilBuildWaits()).pid).toBe(build.pid);
    }
    expect(await second).toEqual(['9000-events-by-request']);
    await expectBuilt();
    expect((await indexes()).map(({ oid }) => oid)).toContain(build.index);
  });
});

describe('a ledger of a later version', () => {
  it('is used by this version, whose migration leaves it as it is', async () => {
    await migrateOnline();
    expect(await pendingMigrations(db)).toEqual([]);
    expect(await migrate(database.url)).toEqual([]);
  });

  it('gets no earlier migration any more', async () => {
    await migrateOnline();
    const earlier = { ...migrations, '0021-another-branch': { up: async () => undefined } };
    const refused = migrate(database.url, { migrations: earlier });
    await expect(refused).rejects.toThrow(
      'has 9000-events-by-request of a later version, and lacks 0021-another-branch',
    );
  });
});

const peer = new URL('./testing/online-migration-peer.ts', import.meta.url);
