import { randomBytes } from 'node:crypto';
import { listEventsQuerySchema } from '@enterprise-api/shared/contracts';
import type { Database, DatabaseTransaction, Schema } from '@enterprise-api/shared/ledger';
import { newUuid, toPublicId } from '@enterprise-api/shared/runtime';
import { insertEvents, insertOrganization, openTestDatabase, testEvent } from '@enterprise-api/testkit';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type ControlledTransaction, type IsolationLevel, sql } from 'kysely';
import { isProblem } from '../http/problem.ts';
import { createCursors } from '../pagination/paging.ts';
import { createHorizonReader } from './horizon.ts';
import { createRetentionLimits } from './queries.ts';
import { createEventHistory, type EventHistory } from './service.ts';

let db: Database;
let close: () => Promise<void>;
let history: EventHistory;
beforeAll(async () => {
  ({ db, close } = await openTestDatabase());
  const cursors = createCursors([{ id: 'test', key: randomBytes(32) }]);
  history = createEventHistory({
    db,
    history: (read) => read(db),
    cursors,
    horizon: createHorizonReader(db),
    limits: createRetentionLimits(db, Date.now),
  });
});
afterAll(() => close());

let organizationId: string;
let other: string;
beforeEach(async () => {
  organizationId = await insertOrganization(db);
  do other = await insertOrganization(db);
  while (other.slice(-3) === organizationId.slice(-3));
});

const emit = async (into: Database | DatabaseTransaction, organization = organizationId): Promise<string> => {
  const [written] = await insertEvents(into as Database, [testEvent(organization)]);
  return toPublicId('evt', written?.id as string);
};
const open = new Set<ControlledTransaction<Schema>>();
async function begin(isolation: IsolationLevel = 'read committed'): Promise<ControlledTransaction<Schema>> {
  const trx = await db.startTransaction().setIsolationLevel(isolation).execute();
  open.add(trx);
  return trx;
}
afterEach(async () => {
  for (const trx of open) if (!trx.isCommitted && !trx.isRolledBack) await trx.rollback().execute();
  open.clear();
});

/** Follows the events of an organization, page by page, as a client does. */
function follow(organization: string, limit = 3) {
  const seen: string[] = [];
  let cursor: string | undefined;
  return {
    seen,
    /** Reads until nothing newer is there. */
    read: async () => {
      for (;;) {
        const query = listEventsQuerySchema.parse({ order: 'asc', limit: String(limit), ...(cursor && { cursor }) });
        const page = await history.list(organization, query);
        if (isProblem(page)) throw new Error(page.problem);
        seen.push(...page.data.map(({ id }) => id));
        expect(page.next_cursor).not.toBeNull();
        cursor = page.next_cursor ?? undefined;
        if (!page.has_more) return seen;
      }
    },
  };
}

/** Those in the database of this suite: other suites have theirs on the same server. */
async function advisoryLocks(): Promise<object[]> {
  const { rows } = await sql<object>`
    select from pg_locks where locktype = 'advisory'
      and database = (select oid from pg_database where datname = current_database())`.execute(db);
  return rows;
}

describe('events oldest first', () => {
  it('leave out what a transaction that is still open may add before, and have it once it is committed', async () => {
    const reader = follow(organizationId);
    const first = await emit(db);
    const trx = await begin();
    const late = await emit(trx);
    const next = await emit(db);
    expect(await reader.read()).toEqual([first]);
    await trx.commit().execute();
    expect(await reader.read()).toEqual([first, late, next]);
  });

  it('go on without what was rolled back', async () => {
    const reader = follow(organizationId);
    const trx = await begin();
    await emit(trx);
    const kept = await emit(db);
    expect(await reader.read()).toEqual([]);
    await trx.rollback().execute();
    expect(await reader.read()).toEqual([kept]);
  });

  it('do not wait for a transaction that has emitted nothing yet, however old it is and whatever it has written', async () => {
    const reader = follow(organizationId);
    const trx = await begin();
    await sql`update organizations set name = 'x' where id = ${other}`.execute(trx);
    const first = await emit(db);
    expect(await reader.read()).toEqual([first]);
    const late = await emit(trx);
    const next = await emit(db);
    expect(await reader.read()).toEqual([first]);
    await trx.commit().execute();
    expect(await reader.read()).toEqual([first, late, next]);
  });

  it('do not wait for a transaction of another organization, nor for a long read', async () => {
    const reader = follow(organizationId);
    const trx = await begin();
    await emit(trx, other);
    const dump = await begin('repeatable read');
    await sql`select count(*) from events`.execute(dump);
    const first = await emit(db);
    expect(await reader.read()).toEqual([first]);
    await dump.commit().execute();
    await trx.commit().execute();
  });

  it.each([94, 95])('do not wait for an exclusive lock whose number looks like a note of kind %i', async (kind) => {
    const reader = follow(organizationId);
    const trx = await begin();
    const bucket = kind === 94 ? organizationId.slice(-3) : '000';
    // As an `Idempotency-Key` takes it: the number is a hash, which its client can choose by trying.
    const number = BigInt(`0x${kind.toString(16)}${bucket}${'1'.padStart(11, '0')}`).toString();
    await sql`select pg_advisory_xact_lock(${number}::bigint)`.execute(trx);
    const first = await emit(db);
    expect(await reader.read()).toEqual([first]);
  });

  it('wait for a transaction that emits for many organizations, whichever they are', async () => {
    const reader = follow(organizationId);
    const trx = await begin();
    for (let count = 0; count < 20; count++) await emit(trx, newUuid());
    const late = await emit(trx);
    const next = await emit(db);
    expect(await reader.read()).toEqual([]);
    await trx.commit().execute();
    expect(await reader.read()).toEqual([late, next]);
    expect(await advisoryLocks()).toHaveLength(0);
  });

  it('need few locks of a transaction with very many events', async () => {
    const trx = await begin();
    for (let count = 0; count < 60; count++) await emit(trx, count % 2 === 0 ? organizationId : newUuid());
    expect((await advisoryLocks()).length).toBeLessThanOrEqual(10);
    await trx.rollback().execute();
  });

  it('wait for a writer that does not say whose events they are', async () => {
    const reader = follow(organizationId);
    const trx = await begin();
    await sql`insert into events (id, organization_id, type) values (${newUuid()}, ${other}, 'batch.failed')`.execute(
      trx,
    );
    const next = await emit(db);
    expect(await reader.read()).toEqual([]);
    await trx.commit().execute();
    expect(await reader.read()).toEqual([next]);
  });

  it('are those of a transaction that reads a snapshot as old as itself, too', async () => {
    const reader = follow(organizationId);
    const trx = await begin('repeatable read');
    await sql`select from organizations`.execute(trx);
    const first = await emit(db);
    expect(await reader.read()).toEqual([first]);
    const late = await emit(trx);
    const next = await emit(db);
    await trx.commit().execute();
    expect(await reader.read()).toEqual([first, late, next]);
  });

  it('are each there once, whoever writes, commits, rolls back and reads in whatever order', async () => {
    const step = fc.record({
      kind: fc.constantFrom('begin', 'emit', 'emit', 'emitAlone', 'savepoint', 'commit', 'rollback', 'read', 'read'),
      writer: fc.nat(2),
      isOther: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 5, maxLength: 30 }),
        fc.integer({ min: 1, max: 4 }),
        async (steps, limit) => {
          const [mine, theirs] = [await insertOrganization(db), await insertOrganization(db)];
          const readers = [follow(mine, limit), follow(theirs, limit)];
          const writers = new Map<number, ControlledTransaction<Schema>>();
          for (const { kind, writer, isOther } of steps) {
            const trx = writers.get(writer);
            const organization = isOther ? theirs : mine;
            if (kind === 'begin' && trx === undefined) writers.set(writer, await begin());
            if (kind === 'emit' && trx !== undefined) await emit(trx, organization);
            if (kind === 'emitAlone') await emit(db, organization);
            if (kind === 'savepoint' && trx !== undefined) {
              await sql`savepoint s`.execute(trx);
              await emit(trx, organization);
              await sql`rollback to savepoint s`.execute(trx);
            }
            if (kind === 'commit' || kind === 'rollback') {
              await trx?.[kind]().execute();
              writers.delete(writer);
            }
            if (kind === 'read') for (const reader of readers) await reader.read();
          }
          for (const trx of writers.values()) await trx.commit().execute();
          for (const [reader, organization] of [
            [readers[0], mine],
            [readers[1], theirs],
          ] as const) {
            const there = await db
              .selectFrom('events')
              .select('id')
              .where('organization_id', '=', organization)
              .execute();
            expect((await reader?.read())?.toSorted()).toEqual(there.map(({ id }) => toPublicId('evt', id)).toSorted());
          }
        },
      ),
      { numRuns: 40 },
    );
  });

  it('are each there once for a reader beside many writers', async () => {
    const reader = follow(organizationId, 20);
    let writing = 4;
    const write = async () => {
      for (let count = 0; count < 30; count++) {
        await db.transaction().execute(async (trx) => {
          for (let each = 0; each < 3; each++) await emit(trx, count % 3 === 0 ? other : organizationId);
        });
      }
      writing -= 1;
    };
    const writers = Promise.all([write(), write(), write(), write()]);
    while (writing > 0) await reader.read();
    await writers;
    const there = await db.selectFrom('events').select('id').where('organization_id', '=', organizationId).execute();
    expect((await reader.read()).toSorted()).toEqual(there.map(({ id }) => toPublicId('evt', id)).toSorted());
  });
});
