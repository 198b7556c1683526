import { insertOrganization, openTestDatabase, testEvent } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Database } from '../ledger/index.ts';
import { toPublicId, uuidTimeMs } from '../runtime/index.ts';
import { type BatchedProducer, createBatchedProducer } from './batched-producer.ts';
import { newEvent, writeEvents } from './write-events.ts';

let db: Database;
let close: () => Promise<void>;
let producer: BatchedProducer;
let organizationId: string;
const notified: string[] = [];

beforeAll(async () => {
  ({ db, close } = await openTestDatabase());
  organizationId = await insertOrganization(db);
  producer = createBatchedProducer({
    db,
    notifier: { notify: async (events) => void notified.push(...events.map(({ id }) => id)) },
  });
});
afterAll(() => close());

const exists = async (id: string) => ({
  event: (await db.selectFrom('events').select('id').where('id', '=', id).execute()).length === 1,
  outbox: (await db.selectFrom('outbox').select('event_id').where('event_id', '=', id).execute()).length === 1,
});

describe('the batched producer', () => {
  it('writes event and outbox row, and tells the workers', async () => {
    const [event] = await producer.emit([testEvent(organizationId)]);
    expect(event).toMatchObject({ type: 'consultation.completed', organizationId, duplicate: false });
    expect(await exists(event?.id ?? '')).toEqual({ event: true, outbox: true });
    expect(notified).toContain(event?.id);
  });

  it('answers while the queue does not', async () => {
    const silent = createBatchedProducer({ db, notifier: { notify: () => new Promise(() => undefined) } });
    expect(await silent.emit([testEvent(organizationId)])).toHaveLength(1);
  });

  it('keeps the first event with a caller’s id and ignores a second one, also within one call', async () => {
    const id = 'order-17';
    const [first, twin] = await producer.emit([
      testEvent(organizationId, { id }),
      testEvent(organizationId, { id, type: 'batch.failed' }),
    ]);
    const [again] = await producer.emit([testEvent(organizationId, { id, type: 'batch.failed' })]);
    expect([first?.duplicate, twin?.duplicate, again?.duplicate]).toEqual([false, true, true]);
    expect(again).toMatchObject({ id: first?.id, type: 'consultation.completed' });
    expect(notified.filter((each) => each === first?.id)).toHaveLength(1);
    const other = await insertOrganization(db);
    expect((await producer.emit([testEvent(other, { id })]))[0]?.duplicate).toBe(false);
  });

  it('writes one event when a hundred producers write the same id at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => producer.emit([testEvent(organizationId, { id: 'at once' })])),
    );
    const events = answers.flat();
    expect(new Set(events.map((event) => event.id)).size).toBe(1);
    expect(events.filter((event) => !event.duplicate)).toHaveLength(1);
  });
});

describe('writing events', () => {
  it('writes each body byte for byte, with any content, in any batch', async () => {
    const texts = ['a\nb\r\n', '"quoted" \\ {}, NULL', '\u2028\u2029', '', 'é😀', "it's $1"];
    const made = texts.map((text) =>
      newEvent(testEvent(organizationId, { data: { consultation_id: 'c', text, [text]: [text] } }), Date.now(), {
        requestId: text === '' ? 'NULL' : `${text},"x"`,
      }),
    );
    await writeEvents(db, made);
    const withBodies = db.selectFrom('events').innerJoin('event_bodies', 'event_bodies.event_id', 'events.id');
    const rows = await withBodies.select(['id', 'body', 'request_id']).execute();
    const written = new Map(rows.map((row) => [row.id, row]));
    for (const { id, body, requestId } of made) {
      expect(written.get(id)).toEqual({ id, body, request_id: requestId });
    }
  });

  it('re-times an id whose clock is far off, so that its partition exists', async () => {
    const now = Date.now();
    const early = newEvent(testEvent(organizationId), now, { id: '00000000-0000-7000-8000-000000000000' });
    expect(uuidTimeMs(early.id)).toBe(now);
    expect(JSON.parse(early.body).id).toBe(toPublicId('evt', early.id));
    expect((await writeEvents(db, [early]))[0]?.duplicate).toBe(false);
  });
});
