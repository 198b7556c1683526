import { createDatabase, type Database, migrate } from '@enterprise-api/shared/ledger';
import {
  forStandbys,
  inParallel,
  insertEvents,
  insertOrganization,
  type OwnPostgres,
  startOwnPostgres,
  startStandby,
  testEvent,
  until,
} from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';

const resources = new AsyncDisposableStack();
let primary: OwnPostgres;
let standby: OwnPostgres;
let primaryDb: Database;
let standbyDb: Database;
let organizationId: string;

beforeAll(async () => {
  primary = resources.use(await startOwnPostgres({ settings: forStandbys }));
  await migrate(primary.url);
  standby = resources.use(await startStandby(primary));
  [primaryDb, standbyDb] = [openPool(primary), openPool(standby)];
  organizationId = await insertOrganization(primaryDb);
});
afterAll(async () => resources.disposeAsync());

function openPool({ url }: OwnPostgres): Database {
  const pool = createDatabase({ url, applicationName: 'test', poolSize: 10, onError: () => undefined });
  resources.defer(() => pool.destroy());
  return pool;
}

/** @returns the position of the event */
async function emit(db: Database, organization = organizationId): Promise<number> {
  const [written] = await insertEvents(db, [testEvent(organization)]);
  const id = written?.id as string;
  return (await db.selectFrom('events').select('position').where('id', '=', id).executeTakeFirstOrThrow()).position;
}

async function emitMany(db: Database): Promise<number[]> {
  const positions: number[] = [];
  await inParallel(Array.from({ length: 60 }), 10, async () => void positions.push(await emit(db)));
  return positions;
}

describe('after a failover to a replica that lacks events', () => {
  it('none of their positions is given again, and no position twice, however many writers are the first', async () => {
    const kept = await emit(primaryDb);
    const hasKept = () => standbyDb.selectFrom('events').select('id').where('position', '=', kept).executeTakeFirst();
    await until('the event is replicated', hasKept, { withinMs: 30_000 });
    await standby.stop();
    const lost = Math.max(...(await emitMany(primaryDb)));
    await primary.crash();
    await standby.start();
    await sql`select pg_promote()`.execute(standbyDb);
    const again = await emitMany(standbyDb);
    expect(Math.min(...again)).toBeGreaterThan(lost);
    expect(new Set(again).size).toBe(again.length);
    const { rows } = await sql<{ at: number }>`select last_value as at from event_positions`.execute(standbyDb);
    // They were moved on once, and not by each of the first writers.
    expect(rows[0]?.at).toBeLessThan(lost + 1_500_000_000);
  });

  it('a producer with few rights, whose transaction stays open, moves them on and holds up nobody', async () => {
    const before = await emit(standbyDb);
    await sql`create role producer`.execute(standbyDb);
    await sql`grant select, insert on events, event_keys, outbox to producer`.execute(standbyDb);
    await sql`grant insert on event_bodies to producer`.execute(standbyDb);
    await sql`grant select on organizations to producer`.execute(standbyDb);
    // As on the next timeline.
    await sql`select setval('event_timeline', 77)`.execute(standbyDb);
    const producer = await standbyDb.startTransaction().execute();
    try {
      await sql`set local role producer`.execute(producer);
      const other = await insertOrganization(standbyDb);
      expect(await emit(producer, other)).toBeGreaterThan(before + 1_000_000_000);
      expect(await emit(standbyDb)).toBeGreaterThan(before + 1_000_000_000);
    } finally {
      await producer.rollback().execute();
    }
    expect(await emit(standbyDb)).toBeLessThan(before + 1_500_000_000);
  });
});
