import { newEvent, writeEvents } from '@enterprise-api/shared/events';
import {
  createDatabase,
  createDatabaseClock,
  type Database,
  insertErasure,
  type RequestedSelection,
  type Row,
  refuseRestore,
  writeAuditEntry,
} from '@enterprise-api/shared/ledger';
import { createJobProducer, selectQueueBackend } from '@enterprise-api/shared/queue';
import { createLogger, newUuid, systemClock, toPublicId, type Uuid } from '@enterprise-api/shared/runtime';
import {
  createTestDatabase,
  insertOrganization,
  insertWebhook,
  queueBackends,
  testEvent,
  until,
  untilLockWait,
} from '@enterprise-api/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { createClosingLoop } from '../closings/closings.ts';
import { fanOutEvents } from '../fan-out/queries.ts';
import { writeQueuedEvent } from '../fan-out/write-event.ts';
import { recordOutcomes } from '../outcomes/record-outcomes.ts';
import { emitEvents, findAttempts, findDelivery, outcomeOf, plenty, testBox } from '../testing/ledger.ts';
import { applyRecords } from './apply.ts';
import { createErasureLoop } from './erasures.ts';
import { claimErasure, eraseEvents, releaseClaim } from './queries.ts';

const secret = 'con_canary-4711';
const settings = { leaseMs: 45_000, maxAttempts: 3 };
const clock = createDatabaseClock(systemClock);
let database: Awaited<ReturnType<typeof createTestDatabase>>;
let db: Database;
let organizationId: Uuid;
let webhookId: Uuid;

beforeAll(async () => {
  database = await createTestDatabase();
  db = createDatabase({ url: database.url, applicationName: 'test', poolSize: 5 });
});
afterAll(async () => {
  await db.destroy();
  await database[Symbol.asyncDispose]();
});
beforeEach(async () => {
  organizationId = await insertOrganization(db);
  webhookId = await insertWebhook(db, { organizationId });
});

const emit = (subject: string, count = 1) =>
  emitEvents(db, organizationId, count, { data: { consultation_id: subject, text: `about ${subject}` } });
const fanOut = (ids: readonly Uuid[]) => fanOutEvents(db, ids, plenty, settings);

const request = (selection: RequestedSelection) =>
  db.transaction().execute((trx) => insertErasure(trx, testBox.seal, { organizationId, selection, reason: null }));

/** Runs a worker's loop until the erasure has come so far. */
async function erase(
  erasure: Pick<Row<'erasures'>, 'id'>,
  holds: (row: Row<'erasures'>) => boolean = (row) => row.completed_at !== null,
  redisUrl?: string,
) {
  const queue = selectQueueBackend({ redisUrl, databaseUrl: database.url });
  const loop = createErasureLoop({ db, clock, queue, box: testBox, settleMs: 0 }, (error) => {
    throw error;
  });
  loop.start();
  const row = await until('the erasure', () => find(erasure.id), { holds, withinMs: 60_000 });
  await loop.stop();
  return row;
}

const find = (id: Uuid) => db.selectFrom('erasures').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
const findEvent = (id: Uuid) =>
  db
    .selectFrom('events as e')
    .leftJoin('event_bodies as b', 'b.event_id', 'e.id')
    .leftJoin('event_subjects as s', 's.event_id', 'e.id')
    .select(['e.id', 'e.erased_at', 'b.body', 's.subject'])
    .where('e.id', '=', id)
    .executeTakeFirstOrThrow();
const deliveriesOf = (eventId: Uuid) =>
  db.selectFrom('deliveries').selectAll().where('event_id', '=', eventId).execute();
const erased = { erased_at: expect.any(Date), body: null, subject: null };

/** Every row of the ledger as text, without the receipts. */
/** An attempt whose receiver names the subject in a header. */
const answered = { remoteAddress: secret, responseHeaders: { server: secret } };
const withoutTexts = { excerpt: null, error_message: null, remote_address: null, response_headers: null };

async function wholeLedger(): Promise<string> {
  const tables = ['events', 'event_bodies', 'event_subjects', 'event_keys', 'outbox', 'parked_events', 'deliveries'];
  const texts = [...tables, 'pending_deliveries', 'attempts', 'erasures', 'audit_log', 'console_sessions'].map(
    async (table) => {
      const { rows } = await sql<{ text: string }>`select t::text as text from ${sql.table(table)} t`.execute(db);
      return rows.map(({ text }) => text).join('\n');
    },
  );
  return (await Promise.all(texts)).join('\n');
}

describe('an erasure of a subject', () => {
  it('removes bodies, texts of attempts and the subject, cancels what is pending, and keeps the rest', async () => {
    const [delivered = '', failed = '', waiting = '', other = ''] = [
      ...(await emit(secret, 3)),
      ...(await emit('con_2')),
    ];
    const { leases } = await fanOut([delivered, failed, waiting, other]);
    const leaseOf = (id: Uuid) => leases.find((lease) => lease.event_id === id) as (typeof leases)[number];
    await recordOutcomes(db, [
      outcomeOf(leaseOf(delivered), { result: 'delivered', excerpt: `thanks for ${secret}` }),
      outcomeOf(leaseOf(failed), { errorMessage: `bad ${secret}`, excerpt: `no ${secret}`, ...answered }),
      outcomeOf(leaseOf(waiting), answered),
    ]);
    const row = await erase(await request({ kind: 'subject', subject: secret }));
    expect(row.counts).toEqual({ events: 3, bodies: 3, responses: 2, deliveries_canceled: 2, queued: 0 });
    for (const id of [delivered, failed, waiting]) expect(await findEvent(id)).toMatchObject(erased);
    expect(await deliveriesOf(delivered)).toMatchObject([
      { status: 'succeeded', last_status_code: 200, excerpt: null },
    ]);
    expect(await deliveriesOf(failed)).toMatchObject([
      { status: 'canceled', canceled_reason: 'erased', last_error: 'http_error', attempt_count: 1 },
    ]);
    expect(await deliveriesOf(waiting)).toMatchObject([{ status: 'canceled', canceled_reason: 'erased' }]);
    expect(await findEvent(other)).toMatchObject({ erased_at: null, subject: 'con_2', body: expect.any(String) });
    expect(await deliveriesOf(other)).toMatchObject([{ status: 'pending' }]);
    expect(await wholeLedger()).not.toContain(secret);
    expect(row).toMatchObject({ selection_sealed: null, selected_subject: null });
  });

  it("removes the producer's request id, and the filters of links to the console", async () => {
    const event = newEvent(testEvent(organizationId, { data: { consultation_id: secret } }), Date.now(), {
      requestId: secret,
    });
    await writeEvents(db, [event]);
    const path = `/console/${toPublicId('org', organizationId)}/deliveries`;
    await sql`
      insert into console_sessions (id, organization_id, scopes, path, show_bodies, link_hash, link_expires_at, expires_at)
      values (${newUuid()}, ${organizationId}, '{}', ${`${path}?subject=${secret}`}, false, '', now(), now())`.execute(
      db,
    );
    await erase(await request({ kind: 'subject', subject: secret }));
    expect(await wholeLedger()).not.toContain(secret);
    expect((await db.selectFrom('console_sessions').select('path').executeTakeFirstOrThrow()).path).toBe(path);
  });

  it('covers an event that waits in the outbox or is parked: no delivery of it is ever written', async () => {
    const [waiting = '', parked = '', other = ''] = [...(await emit(secret, 2)), ...(await emit('con_2'))];
    await sql`with gone as (delete from outbox where event_id = ${parked} returning *)
      insert into parked_events (event_id, organization_id, created_at, reason, failures, retry_at)
      select *, 'test', 1, now() from gone`.execute(db);
    const erasure = await request({ kind: 'subject', subject: secret });
    const { events } = await fanOut([waiting, other]);
    expect(events).toBe(1);
    expect((await erase(erasure)).counts).toMatchObject({ events: 2, bodies: 2, deliveries_canceled: 0 });
    await fanOut([waiting, parked]);
    expect([await deliveriesOf(waiting), await deliveriesOf(parked)]).toEqual([[], []]);
    expect(await deliveriesOf(other)).toHaveLength(1);
  });

  it('covers an event that was accepted before it and is committed later, and no event that is accepted later', async () => {
    const [early, late] = [0, 1].map(() =>
      newEvent(testEvent(organizationId, { data: { consultation_id: secret } }), Date.now()),
    );
    if (early === undefined || late === undefined) throw new Error('two events were made');
    const open = await db.startTransaction().execute();
    await writeEvents(open, [early]);
    const erasure = await request({ kind: 'subject', subject: secret });
    await writeEvents(db, [late]);
    // Several passes find nothing, and do not complete it.
    const passes = new Set<number>();
    await erase(erasure, (row) => passes.add(Number(row.pass_began_at)).size > 3);
    await open.commit().execute();
    const { events } = await fanOut([early.id, late.id]);
    expect(events).toBe(1);
    expect((await erase(erasure)).counts).toMatchObject({ events: 1 });
    expect(await findEvent(early.id)).toMatchObject(erased);
    expect(await deliveriesOf(early.id)).toEqual([]);
    expect(await findEvent(late.id)).toMatchObject({ erased_at: null, subject: secret });
  });

  it('waits for a fan-out that is under way, and cancels its deliveries', async () => {
    const [id = ''] = await emit(secret);
    const fanningOut = await db.startTransaction().execute();
    await fanOutEvents(fanningOut, [id], plenty, settings);
    const erasing = erase(await request({ kind: 'subject', subject: secret }));
    await untilLockWait(db);
    await fanningOut.commit().execute();
    expect((await erasing).counts).toMatchObject({ events: 1, bodies: 1, deliveries_canceled: 1 });
    expect(await findEvent(id)).toMatchObject(erased);
    expect(await deliveriesOf(id)).toMatchObject([{ status: 'canceled', canceled_reason: 'erased' }]);
    expect(await db.selectFrom('pending_deliveries').selectAll().where('event_id', '=', id).execute()).toEqual([]);
  });

  it('waits for a replay that makes a delivery of an event, and cancels that delivery', async () => {
    const [id = ''] = await emit(secret);
    await sql`delete from outbox where event_id = ${id}`.execute(db);
    const replay = await db.startTransaction().execute();
    await sql`select from event_bodies where event_id = ${id} for share`.execute(replay);
    await sql`with written as (
        insert into deliveries (id, organization_id, webhook_id, event_id, event_type, status, max_attempts, manual)
        values (delivery_id(${id}, ${webhookId}), ${organizationId}, ${webhookId}, ${id}, 'consultation.completed', 'pending', 1, true)
        returning *)
      insert into pending_deliveries (delivery_id, webhook_id, organization_id, event_id, event_type, next_attempt_at, max_attempts)
      select id, webhook_id, organization_id, event_id, event_type, now(), 1 from written`.execute(replay);
    const erasure = await request({ kind: 'event_ids', eventIds: [id] });
    const erasing = erase(erasure);
    await untilLockWait(db);
    await replay.commit().execute();
    expect((await erasing).counts).toMatchObject({ events: 1, bodies: 1, deliveries_canceled: 1 });
    expect(await deliveriesOf(id)).toMatchObject([{ status: 'canceled', canceled_reason: 'erased' }]);
    expect(await db.selectFrom('pending_deliveries').selectAll().where('event_id', '=', id).execute()).toEqual([]);
  });

  it('records the outcome of an attempt that ends after it without texts', async () => {
    const [id = ''] = await emit(secret);
    const [lease] = (await fanOut([id])).leases;
    if (lease === undefined) throw new Error('one delivery was leased');
    await erase(await request({ kind: 'subject', subject: secret }));
    const texts = { excerpt: `late ${secret}`, errorMessage: `late ${secret}`, ...answered };
    await recordOutcomes(db, [outcomeOf(lease, texts)]);
    await recordOutcomes(db, [outcomeOf(lease, { ...texts, result: 'delivered', number: 2 })]);
    await recordOutcomes(db, [outcomeOf(lease, { ...texts, number: 3 })]);
    expect(await findDelivery(db, lease.id)).toMatchObject({ status: 'succeeded', last_status_code: 200 });
    const attempts = await findAttempts(db, lease.id);
    expect(attempts).toHaveLength(3);
    for (const attempt of attempts) expect(attempt).toMatchObject(withoutTexts);
  });

  it('records an attempt without texts if a crash lost its delivery, so that no erasure could find them', async () => {
    const [id = ''] = await emit(secret);
    const [lease] = (await fanOut([id])).leases;
    if (lease === undefined) throw new Error('one delivery was leased');
    await sql`with p as (delete from pending_deliveries where delivery_id = ${lease.id})
      delete from deliveries where id = ${lease.id}`.execute(db);
    await recordOutcomes(db, [outcomeOf(lease, { excerpt: secret, errorMessage: secret, ...answered })]);
    const attempts = await findAttempts(db, lease.id);
    expect(attempts).toHaveLength(1);
    expect(attempts[0]).toMatchObject(withoutTexts);
  });

  it('continues where a killed worker stopped, and changes nothing when it is repeated', async () => {
    const ids = await emit(secret, 450);
    const erasure = await request({ kind: 'subject', subject: secret });
    await erase(erasure, (row) => row.counts.events > 0);
    await sql`update erasures set claimed_until = now() + interval '1 second' where completed_at is null`.execute(db);
    expect((await erase(erasure)).counts).toMatchObject({ events: ids.length, bodies: ids.length });
    expect((await erase(await request({ kind: 'subject', subject: secret }))).counts).toMatchObject({
      events: 0,
      bodies: 0,
    });
  });
});

it('works on at most four erasures at once', async () => {
  for (let n = 0; n < 5; n += 1) await request({ kind: 'subject', subject: `con_${n}` });
  const claim = async () => (await claimErasure(db))?.id;
  const claimed = [await claim(), await claim(), await claim(), await claim()];
  expect(new Set(claimed).size).toBe(4);
  expect(await claim()).toBeUndefined();
  await releaseClaim(db, claimed[0] ?? '');
  expect(claimed).not.toContain(await claim());
  await db.deleteFrom('erasures').where('completed_at', 'is', null).execute();
});

it('erases by ids: ignores foreign ids, and counts no id twice', async () => {
  const [mine = '', kept = ''] = await emit('con_1', 2);
  const [foreign = ''] = await emitEvents(db, await insertOrganization(db), 1);
  const erasure = await request({ kind: 'event_ids', eventIds: [mine, foreign, newUuid(), mine] });
  expect((await fanOut([mine, foreign, kept])).events).toBe(2);
  expect((await erase(erasure)).counts).toMatchObject({ events: 1, bodies: 1 });
  expect(await findEvent(mine)).toMatchObject(erased);
  for (const id of [foreign, kept]) expect(await findEvent(id)).toMatchObject({ erased_at: null });
});

it.each(['before', 'all'] as const)(
  'erases everything (%s), tests too, and nothing of other organizations',
  async (kind) => {
    const ids = await emit('con_1', 2);
    await fanOut(ids.slice(0, 1));
    const foreign = await emitEvents(db, await insertOrganization(db), 1);
    const test = newEvent(testEvent(organizationId, { type: 'batch.completed' }), Date.now(), { test: true });
    await sql`with event as (insert into events (id, organization_id, type, test) values (${test.id}, ${organizationId}, ${test.type}, true)),
    body as (insert into event_bodies (event_id, body) values (${test.id}, ${test.body}))
    insert into deliveries (id, organization_id, webhook_id, event_id, event_type, status, max_attempts, test, excerpt)
    values (delivery_id(${test.id}, ${webhookId}), ${organizationId}, ${webhookId}, ${test.id}, ${test.type}, 'failed', 1, true, 'hello')`.execute(
      db,
    );
    const before = new Date(Date.now() + 60_000).toISOString();
    const row = await erase(await request(kind === 'all' ? { kind } : { kind, before }));
    expect(row.counts).toMatchObject({ events: 3, bodies: 3, responses: 1, deliveries_canceled: 1 });
    for (const id of [...ids, test.id]) expect(await findEvent(id)).toMatchObject(erased);
    expect(await findEvent(foreign[0] ?? '')).toMatchObject({ erased_at: null, body: expect.any(String) });
  },
);

const recordOf = (row: Row<'erasures'>) =>
  JSON.stringify({
    object: 'erasure_record',
    kind: 'erasure',
    id: toPublicId('ers', row.id),
    organization_id: toPublicId('org', row.organization_id),
    at: new Date(row.requested_at).toISOString().replace('Z', '999Z'),
    selection: {
      kind: row.selection_kind,
      sha256: row.selection_sha256,
      event_ids: row.selected_ids?.map((id) => toPublicId('evt', id)) ?? null,
      before: row.selected_before?.toISOString() ?? null,
    },
    reason: null,
  });

const jobOf = (subject: string, id?: string) => ({
  version: 1 as const,
  event_id: newUuid(),
  event: { ...testEvent(organizationId, { data: { consultation_id: subject } }), ...(id !== undefined && { id }) },
});

async function openQueue(start: ReturnType<typeof queueBackends>[number]['start']) {
  const resources = new AsyncDisposableStack();
  const { redisUrl, close } = await start();
  resources.defer(close);
  const queue = selectQueueBackend({ redisUrl, databaseUrl: database.url });
  const producer = createJobProducer(queue, 'writeEvent', () => undefined);
  resources.defer(producer.close);
  return { redisUrl, queue, producer, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}

describe.each(queueBackends())('whole events in the queue on $name', ({ start }) => {
  it('are written erased, a repeat is a duplicate, and jobs of others stay', async () => {
    await using opened = await openQueue(start);
    const { redisUrl, producer } = opened;
    const [plain, keyed, other] = [jobOf(secret), jobOf(secret, 'con_canary.completed'), jobOf('con_2')];
    for (const job of [plain, keyed, other]) await producer.add(job as never);
    const row = await erase(await request({ kind: 'subject', subject: secret }), undefined, redisUrl);
    expect(row.counts).toMatchObject({ events: 2, queued: 2 });
    expect(await producer.waitingCount()).toBe(1);
    expect(await findEvent(plain.event_id)).toMatchObject(erased);
    const again = newEvent(testEvent(organizationId, { id: 'con_canary.completed' }), Date.now());
    expect(await writeEvents(db, [again])).toMatchObject([{ id: keyed.event_id, duplicate: true }]);
    await sql`delete from bullmq.job`.execute(db).catch(() => undefined);
  });

  it('are written erased by an export, also those that a restore brought back', async () => {
    await using opened = await openQueue(start);
    const { queue, producer } = opened;
    const [covered, other] = [jobOf(secret), jobOf('con_2')];
    for (const job of [covered, other]) await producer.add(job as never);
    const row = await request({ kind: 'subject', subject: secret });
    await db.deleteFrom('erasures').where('id', '=', row.id).execute();
    await applyRecords({ db, clock, queue }, async () => recordOf(row));
    expect(await producer.waitingCount()).toBe(1);
    expect(await findEvent(covered.event_id)).toMatchObject(erased);
    await sql`delete from bullmq.job`.execute(db).catch(() => undefined);
  });
});

it('writes an event whose job a worker handles at the time of the request erased', async () => {
  const job = jobOf(secret);
  const addedAt = Date.now();
  const erasure = await request({ kind: 'subject', subject: secret });
  const id = await writeQueuedEvent({ db, clock, box: testBox }, { job, addedAt, traceparent: undefined });
  expect(await findEvent(id)).toMatchObject(erased);
  expect((await fanOut([id])).events).toBe(0);
  const later = { ...job, event_id: newUuid() };
  const kept = await writeQueuedEvent(
    { db, clock, box: testBox },
    { job: later, addedAt: Date.now() + 60_000, traceparent: undefined },
  );
  expect(await findEvent(kept)).toMatchObject({ erased_at: null });
  expect((await erase(erasure)).counts).toMatchObject({ events: 1 });
});

it('lets a request wait for a whole event that a worker is writing, and covers it', async () => {
  const job = jobOf(secret);
  const blocker = await db.startTransaction().execute();
  await sql`lock table events in share mode`.execute(blocker);
  const writing = writeQueuedEvent({ db, clock, box: testBox }, { job, addedAt: Date.now(), traceparent: undefined });
  await untilLockWait(db);
  let isRequested = false;
  const requesting = request({ kind: 'subject', subject: secret }).finally(() => {
    isRequested = true;
  });
  const waiting = sql`select from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`;
  await until('the request', async () => isRequested || (await waiting.execute(db)).rows.length > 1);
  await blocker.commit().execute();
  const id = await writing;
  await erase(await requesting);
  expect(await findEvent(id)).toMatchObject(erased);
});

it('leaves no text of customers or receivers in the statistics, also in partitions that are created later', async () => {
  const [id = ''] = await emit(secret, 50);
  await fanOut([id]);
  await sql`update deliveries set excerpt = ${secret}`.execute(db);
  await sql`analyze`.execute(db);
  const { rows } = await sql<{ text: string }>`select s::text as text from pg_stats s`.execute(db);
  expect(rows.length).toBeGreaterThan(100);
  expect(rows.filter(({ text }) => text.includes('canary'))).toEqual([]);
});

describe("a caller's event id", () => {
  const storedKeys = async () =>
    (await db.selectFrom('event_keys').select('key').where('organization_id', '=', organizationId).execute()).map(
      ({ key }) => key,
    );
  const hash = expect.stringMatching(/^sha256 [0-9a-f]{64}$/);

  it('is stored as a hash only', async () => {
    const event = newEvent(testEvent(organizationId, { id: `${secret}.completed` }), Date.now());
    await writeEvents(db, [event]);
    expect(await writeEvents(db, [{ ...event, id: newUuid() }])).toMatchObject([{ id: event.id, duplicate: true }]);
    expect(await storedKeys()).toEqual([hash]);
  });

  it('is stored as a hash only by version 1.0.0 too, which finds the first event after a duplicate', async () => {
    const write = (eventId: Uuid) =>
      db.transaction().execute(async (trx) => {
        const inserted = await sql`
          insert into event_keys (organization_id, key, event_id, event_type)
          values (${organizationId}, ${secret}, ${eventId}, 'batch.failed') on conflict do nothing returning event_id`.execute(
          trx,
        );
        const found = await sql<{ event_id: Uuid }>`
          select event_id from event_keys where organization_id = ${organizationId} and key = ${secret}`.execute(trx);
        return [inserted.rows.length, found.rows.map(({ event_id }) => event_id)];
      });
    const first = newUuid();
    expect(await write(first)).toEqual([1, []]);
    expect(await write(newUuid())).toEqual([0, [first]]);
    expect(await storedKeys()).toEqual([hash]);
  });
});

const organization = (id: Uuid) =>
  db.selectFrom('organizations').selectAll().where('id', '=', id).executeTakeFirstOrThrow();

/** Runs a worker's loops until the organization is closed. */
async function closeOrganization(id: Uuid) {
  const queue = selectQueueBackend({ redisUrl: undefined, databaseUrl: database.url });
  const log = createLogger('test', 'info', { write: () => undefined });
  const loops = [
    createErasureLoop({ db, clock, queue, box: testBox, settleMs: 0 }, () => undefined),
    createClosingLoop({ db, box: testBox, log, eraseEvents }, () => undefined),
  ];
  for (const loop of loops) loop.start();
  await until('the closing', () => organization(id), { holds: ({ state }) => state === 'closed', withinMs: 30_000 });
  for (const loop of loops) await loop.stop();
}

describe('records of an export, applied in a restored ledger', () => {
  const apply = (...lines: string[]) => {
    const queue = selectQueueBackend({ redisUrl: undefined, databaseUrl: database.url });
    return applyRecords({ db, clock, queue }, async () => lines.join('\n'));
  };
  const closingOf = (id: Uuid, eraseAt: number) =>
    JSON.stringify({
      object: 'erasure_record',
      kind: 'closing',
      id: toPublicId('org', id),
      organization_id: toPublicId('org', id),
      at: new Date(eraseAt).toISOString().replace('Z', '000Z'),
      selection: null,
      reason: null,
    });

  it('erase by the digest of the subject, write the receipt again, and change nothing the second time', async () => {
    const [fannedOut = '', waiting = '', other = ''] = [...(await emit(secret, 2)), ...(await emit('con_2'))];
    await fanOut([fannedOut, other]);
    const row = await request({ kind: 'subject', subject: secret });
    await db.deleteFrom('erasures').where('id', '=', row.id).execute();
    expect(await apply(recordOf(row))).toEqual({ records: 1, events: 2 });
    for (const id of [fannedOut, waiting]) expect(await findEvent(id)).toMatchObject(erased);
    expect(await findEvent(other)).toMatchObject({ erased_at: null });
    expect(await find(row.id)).toMatchObject({
      selection_sha256: row.selection_sha256,
      completed_at: expect.any(Date),
    });
    expect(await apply(recordOf(row))).toEqual({ records: 1, events: 0 });
    await refuseRestore(db);
  });

  it.each([
    ['event_ids', 1],
    ['before', 1],
    ['all', 2],
  ] as const)('erase by %s, and nothing of other organizations', async (kind, events) => {
    const [early = '', late = ''] = await emit(secret, 2);
    const foreign = await emitEvents(db, await insertOrganization(db), 1);
    await sql`update events set created_at = created_at - interval '1 hour' where id = ${early}`.execute(db);
    const before = new Date(Date.now() - 60_000).toISOString();
    const selections = { event_ids: { eventIds: [early, ...foreign] }, before: { before }, all: {} };
    const row = await request({ kind, ...selections[kind] } as RequestedSelection);
    await db.deleteFrom('erasures').where('id', '=', row.id).execute();
    expect(await apply(recordOf(row))).toEqual({ records: 1, events });
    expect(await findEvent(early)).toMatchObject(erased);
    expect((await findEvent(late)).erased_at === null).toBe(kind !== 'all');
    expect(await findEvent(foreign[0] ?? '')).toMatchObject({ erased_at: null, body: expect.any(String) });
    expect(await find(row.id)).toMatchObject({ selection_kind: kind, selection_sha256: row.selection_sha256 });
  });

  it('revoke a key again, and leave one that is revoked as it is', async () => {
    const ids = [newUuid(), newUuid()];
    const [active = '', revoked = ''] = ids;
    const earlier = new Date('2026-01-01T00:00:00Z');
    const keys = ids.map((id) => ({
      id,
      organization_id: organizationId,
      name: 'ci',
      public_id: id,
      hash: Buffer.from(id),
      scopes: ['*'],
      ip_allowlist: null,
      expires_at: null,
      last_used_at: null,
      revoked_at: id === revoked ? earlier : null,
    }));
    await db.insertInto('api_keys').values(keys).execute();
    const at = '2026-11-01T10:00:00.123456Z';
    const organization_id = toPublicId('org', organizationId);
    const record = { object: 'erasure_record', kind: 'revocation', organization_id, at, selection: null, reason: null };
    const lines = ids.map((id) => JSON.stringify({ ...record, id: toPublicId('key', id) }));
    for (let times = 0; times < 2; times += 1) expect(await apply(...lines)).toEqual({ records: 2, events: 0 });
    const times = await db.selectFrom('api_keys').select(['id', 'revoked_at']).where('id', 'in', ids).execute();
    expect(Object.fromEntries(times.map(({ id, revoked_at }) => [id, revoked_at]))).toEqual({
      [active]: new Date('2026-11-01T10:00:00.123Z'),
      [revoked]: earlier,
    });
  });

  it('keep services from starting until all of them are applied', async () => {
    await expect(apply('{"cut of')).rejects.toThrow('JSON');
    await expect(refuseRestore(db)).rejects.toThrow('erasures apply');
    await apply();
    await refuseRestore(db);
  });

  it('close an organization again: no delivery of it is made or stays pending, and its data are erased', async () => {
    const [fannedOut = '', waiting = ''] = await emit(secret, 2);
    await fanOut([fannedOut]);
    await apply(closingOf(organizationId, Date.now()));
    await fanOut([waiting]);
    expect(await deliveriesOf(waiting)).toEqual([]);
    await closeOrganization(organizationId);
    expect(await deliveriesOf(fannedOut)).toMatchObject([
      { status: 'canceled', canceled_reason: 'organization_closed' },
    ]);
    for (const id of [fannedOut, waiting]) expect(await findEvent(id)).toMatchObject(erased);
  });

  it('close an organization: its audit rows keep no text of callers', async () => {
    const entry = { actor: 'internal', onBehalfOf: secret, action: 'organization.updated', requestId: secret } as const;
    const changes = { name: { from: secret, to: secret } };
    await db
      .transaction()
      .execute((trx) =>
        writeAuditEntry(trx, { ...entry, objectId: organizationId, organizationId, changedFields: ['name'], changes }),
      );
    await apply(closingOf(organizationId, Date.now()));
    await closeOrganization(organizationId);
    const kept = await db.selectFrom('audit_log').selectAll().where('object_id', '=', organizationId).execute();
    expect(kept).toMatchObject([
      { actor: 'internal', action: entry.action, request_id: null, on_behalf_of: null, changes: {} },
    ]);
  });

  it('leave the data of a closed organization as long as its closing did', async () => {
    const eraseAt = Date.now() + 3_600_000;
    await apply(closingOf(organizationId, eraseAt));
    expect(await organization(organizationId)).toMatchObject({ state: 'closing', erase_at: new Date(eraseAt) });
  });

  it('let other organizations be closed if one cannot be', async () => {
    const stuck = await insertOrganization(db);
    await insertWebhook(db, { organizationId: stuck });
    await apply(closingOf(stuck, Date.now()), closingOf(organizationId, Date.now()));
    await sql`update webhooks set state = 'enabled', secret_sealed = 'x' where organization_id = ${stuck}`.execute(db);
    await closeOrganization(organizationId);
    expect(await organization(stuck)).toMatchObject({ state: 'closing' });
    await sql`update organizations set state = 'closed' where id = ${stuck}`.execute(db);
  });
});
