import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import {
  elapsedMs,
  insertOrganization,
  lowest,
  openTestDatabase,
  queueBackends,
  startFaultProxy,
  storedKey,
  throughProxy,
  until,
  untilLockWait,
} from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CamelCasePlugin, Kysely, PostgresDialect, sql } from 'kysely';
import { Pool } from 'pg';
import type { Database } from '../ledger/index.ts';
import { createJobProducer, type JobName, selectQueueBackend } from '../queue/index.ts';
import { fromPublicId, newUuid, toPublicId } from '../runtime/index.ts';
import { createEventProducer, type EventProducer, UnknownOrganizationError } from './producer.ts';

/** Tables of an internal service's own, in the ledger's database. */
interface OwnTables {
  'own.results': { id: string };
}

describe.each(queueBackends())('the producer of an internal service, queue on $name', (backend) => {
  let db: Database;
  let databaseUrl: string;
  let redisUrl: string | undefined;
  let own: Kysely<OwnTables>;
  let producer: EventProducer;
  let organization_id: string;
  let waiting: (name: JobName) => Promise<number>;
  /** Events for which the workers were woken, or would have been had the queue answered in time. */
  let notified = 0;
  const resources = new AsyncDisposableStack();

  beforeAll(async () => {
    ({ redisUrl } = resources.adopt(await backend.start(), (each) => each.close()));
    ({ db, url: databaseUrl } = resources.adopt(await openTestDatabase(), (each) => each.close()));
    await sql`create schema own; create table own.results (id text primary key)`.execute(db);
    own = openOwn(databaseUrl);
    resources.defer(() => own.destroy());
    organization_id = toPublicId('org', await insertOrganization(db));
    const urls = { databaseUrl, redisUrl };
    const onNotified = (_outcome: string, events: number) => {
      notified += events;
    };
    producer = createEventProducer({ ...urls, onNotified });
    resources.defer(() => producer.close());
    waiting = (name) => countJobs(selectQueueBackend(urls), name);
  });
  afterAll(() => resources.disposeAsync());

  const event = (fields: object = {}) => ({
    organization_id,
    type: 'batch.failed' as const,
    data: { batch_id: 'b' },
    ...fields,
  });
  const eventRow = (id: string | undefined) =>
    db
      .selectFrom('events')
      .innerJoin('event_bodies', 'event_bodies.event_id', 'events.id')
      .select(['request_id', 'body'])
      .where('id', '=', fromPublicId('evt', id ?? '') ?? '')
      .executeTakeFirst();
  const addResult = (trx: Kysely<OwnTables>, id: string) => trx.insertInto('own.results').values({ id }).execute();
  const results = async () => (await own.selectFrom('own.results').select('id').execute()).map(({ id }) => id);

  it('writes events with the rows of an open transaction; nobody sees them and no worker is woken before the commit', async () => {
    const before = notified;
    const trx = await own.startTransaction().execute();
    await addResult(trx, 'committed');
    const { events, notify } = await producer.emit(trx, [event(), event({ type: 'batch.completed' })]);
    expect(events).toEqual([
      { id: expect.stringMatching(/^evt_/), type: 'batch.failed', organization_id, duplicate: false },
      { id: expect.stringMatching(/^evt_/), type: 'batch.completed', organization_id, duplicate: false },
    ]);
    expect(await eventRow(events[0]?.id)).toBeUndefined();
    expect(notified).toBe(before);
    await trx.commit().execute();
    expect(JSON.parse((await eventRow(events[0]?.id))?.body ?? '')).toMatchObject({ id: events[0]?.id });
    expect(await results()).toContain('committed');
    expect(await outboxHas(db, events[1]?.id)).toBe(true);
    expect(notified).toBe(before);
    await notify();
    expect(notified).toBe(before + 2);
    await until('a job', async () => (await waiting('fanOut')) > 0);
  });

  it('waits 200 ms for a queue that does not answer, and no longer', async () => {
    const queueUrl = redisUrl ?? databaseUrl;
    const { hostname, port } = new URL(queueUrl);
    await using proxy = await startFaultProxy({ host: hostname, port: Number(port) });
    const silentUrl = throughProxy(queueUrl, proxy);
    proxy.freeze();
    const urls = redisUrl === undefined ? { databaseUrl: silentUrl } : { databaseUrl, redisUrl: silentUrl };
    const silent = createEventProducer(urls);
    const trx = await own.startTransaction().execute();
    const { notify } = await silent.emit(trx, event());
    await trx.commit().execute();
    expect(await lowest(500, () => elapsedMs(notify))).toBeLessThan(500);
    proxy.cut();
    await silent.close();
  });

  it('leaves nothing of a transaction that is rolled back', async () => {
    const trx = await own.startTransaction().execute();
    await addResult(trx, 'rolled back');
    const { events } = await producer.emit(trx, event({ id: 'rolled-back' }));
    await trx.rollback().execute();
    expect(await eventRow(events[0]?.id)).toBeUndefined();
    expect(await results()).not.toContain('rolled back');
    const again = await producer.transaction(own, (_trx, emit) => emit(event({ id: 'rolled-back' })));
    expect(again[0]?.duplicate).toBe(false);
  });

  it('commits rows and events together, wakes the workers, and returns what the work returned', async () => {
    const before = notified;
    const id = await producer.transaction(own, async (trx, emit) => {
      await addResult(trx, 'together');
      await emit(event());
      const [second] = await emit(event());
      return second?.id;
    });
    expect(await eventRow(id)).toBeDefined();
    expect(notified).toBe(before + 2);
    const failing = producer.transaction(own, async (trx, emit) => {
      await emit(event({ id: 'never' }));
      await addResult(trx, 'together');
    });
    await expect(failing).rejects.toThrow('duplicate key');
    expect(notified).toBe(before + 2);
    const keys = await db
      .selectFrom('event_keys')
      .select('key')
      .where('key', '=', storedKey(organization_id, 'never'))
      .execute();
    expect(keys).toEqual([]);
  });

  it('keeps the first event with an id, also against a transaction that commits meanwhile, and wakes nobody for a duplicate', async () => {
    const first = await own.startTransaction().execute();
    const { events } = await producer.emit(first, event({ id: 'once' }));
    const second = producer.transaction(own, (_trx, emit) => emit(event({ id: 'once', type: 'batch.completed' })));
    await untilLockWait(db);
    const before = notified;
    await first.commit().execute();
    expect(await second).toEqual([{ ...events[0], duplicate: true }]);
    expect(notified).toBe(before);
  });

  it('keeps the request id, and leaves out one that is not safe to show', async () => {
    const emit = (requestId: string) =>
      producer.transaction(own, async (_trx, send) => (await send(event(), { requestId }))[0]?.id);
    expect(await eventRow(await emit('req_17'))).toMatchObject({ request_id: 'req_17' });
    for (const unsafe of ['with space', 'a\0b', '', 'x'.repeat(129), `nwk_${'a1B2'.repeat(12)}`]) {
      expect(await eventRow(await emit(unsafe))).toMatchObject({ request_id: null });
    }
  });

  it('refuses an unknown organization with an error that names it, writes nothing, and leaves the transaction usable', async () => {
    const [one, other] = [newUuid(), newUuid()].sort().map((id) => toPublicId('org', id));
    await producer.transaction(own, async (trx, emit) => {
      const error = await emit([
        event({ id: 'of-nobody' }),
        event({ organization_id: other }),
        event({ organization_id: one }),
        event({ organization_id: other }),
      ]).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(UnknownOrganizationError);
      expect(error).toMatchObject({ organizationIds: [one, other], message: expect.stringContaining(String(one)) });
      await addResult(trx, 'went on');
    });
    expect(await results()).toContain('went on');
    const [event1] = await producer.transaction(own, (_trx, emit) => emit(event({ id: 'of-nobody' })));
    expect(event1?.duplicate).toBe(false);
  });

  it('refuses a closed organization like an unknown one', async () => {
    const closed = await insertOrganization(db);
    await db.updateTable('organizations').set({ state: 'closing' }).where('id', '=', closed).execute();
    const organization_id = toPublicId('org', closed);
    const emitting = producer.transaction(own, (_trx, emit) => emit(event({ organization_id })));
    await expect(emitting).rejects.toThrow(UnknownOrganizationError);
    await expect(emitting).rejects.toMatchObject({ organizationIds: [organization_id] });
  });

  it('refuses an event that does not satisfy the contract before anything is written', async () => {
    const emitting = producer.transaction(own, (_trx, emit) => emit([event({ id: 'valid' }), event({ data: {} })]));
    await expect(emitting).rejects.toThrow('batch_id');
  });

  it('refuses a handle that is not a transaction', async () => {
    await expect(producer.emit(own as never, event())).rejects.toThrow(TypeError);
  });

  it('emits an event of an organization that the same transaction makes', async () => {
    const id = newUuid();
    const events = await producer.transaction(db, async (trx, emit) => {
      await trx.insertInto('organizations').values({ id, name: 'New', plan: 'pro' }).execute();
      return emit(event({ organization_id: toPublicId('org', id) }));
    });
    expect(await eventRow(events[0]?.id)).toBeDefined();
  });

  it('works through handles with plugins and another schema', async () => {
    const plugged = own.withPlugin(new CamelCasePlugin()).withSchema('own') as Kysely<OwnTables>;
    const emit = () => producer.transaction(plugged, (_trx, send) => send(event({ id: 'through-plugins' })));
    const [first] = await emit();
    expect(await emit()).toEqual([{ ...first, duplicate: true }]);
    expect(await eventRow(first?.id)).toBeDefined();
  });

  it('needs no rights but those that docs/internal/emit-events.md grants, also for the first job of each queue', async () => {
    const fresh = await openTestDatabase();
    const role = await createProducerRole(fresh.db);
    const restricted = openOwn(role.url(fresh.url));
    const outcomes: string[] = [];
    const its = createEventProducer({
      databaseUrl: role.url(fresh.url),
      redisUrl,
      onError: (error) => outcomes.push(error.message),
      onNotified: (outcome) => outcomes.push(outcome),
    });
    const ours = event({ organization_id: toPublicId('org', await insertOrganization(fresh.db)), id: 'restricted' });
    const emit = () => its.transaction(restricted, (_trx, send) => send(ours));
    const [first] = await emit();
    expect(await emit()).toEqual([{ ...first, duplicate: true }]);
    expect(await outboxHas(fresh.db, first?.id)).toBe(true);
    expect(await its.enqueue(ours)).toMatch(/^evt_/);
    // On a busy machine the queue may answer late; it must not refuse.
    expect([['added'], ['timeout']]).toContainEqual(outcomes);
    await its.close();
    await restricted.destroy();
    await role[Symbol.asyncDispose]();
    await fresh.close();
  });

  it('adds whole events to the queue, with their request id', async () => {
    const before = await waiting('writeEvent');
    expect(await producer.enqueue(event(), { requestId: 'req_18' })).toMatch(/^evt_/);
    await until('a waiting job', async () => (await waiting('writeEvent')) === before + 1);
    await expect(producer.enqueue(event({ data: {} }))).rejects.toThrow('batch_id');
  });
});

it('needs to know where the queue is', () => {
  expect(() => createEventProducer({})).toThrow(TypeError);
});

function openOwn(url: string): Kysely<OwnTables> {
  const pool = new Pool({ connectionString: url, max: 4 });
  // The pool ends before its connections do: those that are left when the database is dropped report its end.
  pool.on('error', () => undefined);
  return new Kysely<OwnTables>({ dialect: new PostgresDialect({ pool }) });
}

/** A role with the rights of an internal service, by the statements of its page. */
async function createProducerRole(db: Database): Promise<AsyncDisposable & { url: (url: string) => string }> {
  const name = `producer_${randomBytes(5).toString('hex')}`;
  const page = readFileSync(new URL('../../../../docs/internal/emit-events.md', import.meta.url), 'utf8');
  const blocks = [...page.matchAll(/```sql\n(grant .*?)```/gs)];
  const grants = blocks.map(([, text = '']) => text.replaceAll('to orders', `to ${name}`));
  if (grants.length !== 2) throw new Error('docs/internal/emit-events.md grants its rights in two blocks.');
  await sql.raw(`create role ${name} login password '${name}'; ${grants.join('\n')}`).execute(db);
  return {
    url: (url) => Object.assign(new URL(url), { username: name, password: name }).href,
    [Symbol.asyncDispose]: async () => void (await sql.raw(`drop owned by ${name}; drop role ${name}`).execute(db)),
  };
}

async function outboxHas(db: Database, id: string | undefined): Promise<boolean> {
  const eventId = fromPublicId('evt', id ?? '') ?? '';
  const rows = await db.selectFrom('outbox').select('event_id').where('event_id', '=', eventId).execute();
  return rows.length === 1;
}

async function countJobs(backend: Parameters<typeof createJobProducer>[0], name: JobName): Promise<number> {
  const queue = createJobProducer(backend, name, () => undefined);
  try {
    return await until('the queue answers', () => queue.waitingCount(), { holds: Number.isInteger });
  } finally {
    await queue.close();
  }
}
