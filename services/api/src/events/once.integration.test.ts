import type { EmittedEvent } from '@enterprise-api/shared/contracts';
import { fromPublicId, newUuid, type Uuid } from '@enterprise-api/shared/runtime';
import { readMetric, until } from '@enterprise-api/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { isBusy, startTestApi, type TestApi } from '../testing/test-api.ts';

let api: TestApi;
let organization_id: string;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());
beforeEach(async () => {
  organization_id = (await api.createOrganization()).id;
});

const event = (fields: object = {}) => ({ organization_id, type: 'batch.failed', data: { batch_id: 'b1' }, ...fields });

const emitAtOnce = (idempotencyKey: string, body: object) =>
  api.internal('post', '/internal/v1/events').set('Idempotency-Key', idempotencyKey).send(body);
const emit = (idempotencyKey: string, body: object) => emitAtOnce(idempotencyKey, body).retry(3, isBusy);

/** Events, and rows of the outbox, that the organization has. */
async function traces(): Promise<number[]> {
  const id = fromPublicId('org', organization_id) as Uuid;
  const events = await api.db.selectFrom('events').select('id').where('organization_id', '=', id).execute();
  const waiting = await api.db.selectFrom('outbox').select('event_id').where('organization_id', '=', id).execute();
  return [events.length, waiting.length];
}

const countOf = (metric: string) => readMetric(api.internalUrl, metric);

describe('POST /internal/v1/events with an Idempotency-Key', () => {
  it('202, and the same answer again without a second event', async () => {
    const key = newUuid();
    const body = { events: [event(), event({ id: 'b1.failed' })] };
    const first = await emit(key, body).expect(202);
    expect(first.body.data.map(({ duplicate }: EmittedEvent) => duplicate)).toEqual([false, false]);
    const second = await emit(key, body).expect(202);
    expect(second.text).toBe(first.text);
    expect(second.headers['idempotent-replayed']).toBe('true');
    expect(await traces()).toEqual([2, 2]);
  });

  it('notifies the workers once, and counts what was emitted once', async () => {
    const counts = async () => [await countOf('api_events_emitted_total'), await countOf('api_events_notified_total')];
    // Workers are notified after the answer.
    const isSettled = ([emitted, notified]: number[]) => emitted === notified;
    const untilSettled = () => until('every event is notified', counts, { holds: isSettled });
    const [emitted = 0] = await untilSettled();
    const key = newUuid();
    for (let count = 0; count < 3; count++) await emit(key, event()).expect(202);
    expect(await untilSettled()).toEqual([emitted + 1, emitted + 1]);
  });

  // More than the pool has connections: a request that needed a second one would wait for the others, and they for it.
  it('202 for a crowd with keys of their own, all of an organization that is not known yet', async () => {
    const answers = await Promise.all(Array.from({ length: 12 }, () => emitAtOnce(newUuid(), event())));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
    expect(await traces()).toEqual([12, 12]);
  });

  it('shares the ids of callers with emissions without a key', async () => {
    const { body: alone } = await api
      .internal('post', '/internal/v1/events')
      .send(event({ id: 'e1' }))
      .expect(202);
    const { body: once } = await emit(newUuid(), event({ id: 'e1' })).expect(202);
    expect(once.data[0]).toEqual({ ...alone.data[0], duplicate: true });
    expect(await traces()).toEqual([1, 1]);
  });

  it('400 for an unknown organization, which is not kept', async () => {
    const key = newUuid();
    const missing = event({ organization_id: 'org_01jd6kz5r8e2v9qxm3c7t4b0na' });
    const refused = await emit(key, { events: [event(), missing] }).expect(400);
    expect(refused.body.error.param).toBe('events[1].organization_id');
    expect(await traces()).toEqual([0, 0]);
    await emit(key, event()).expect(202);
  });

  it('422 for another event, and it is not written', async () => {
    const key = newUuid();
    await emit(key, event()).expect(202);
    await emit(key, event({ data: { batch_id: 'b2' } })).expect(422);
    expect(await traces()).toEqual([1, 1]);
  });

  it.each([
    ['when the answer is kept', 'create trigger fail after insert on idempotency_keys for each row'],
    [
      'at the commit',
      'create constraint trigger fail after insert on idempotency_keys deferrable initially deferred for each row',
    ],
  ])('writes no event when something fails %s, and writes it with the next try', async (_when, trigger) => {
    await sql`create function fail() returns trigger language plpgsql as $$ begin raise exception 'broken'; end $$`.execute(
      api.db,
    );
    await sql.raw(`${trigger} execute function fail()`).execute(api.db);
    const before = await countOf('api_events_emitted_total');
    const key = newUuid();
    await emit(key, event()).expect(500);
    await sql`drop function fail cascade`.execute(api.db);
    expect([await traces(), await countOf('api_events_emitted_total')]).toEqual([[0, 0], before]);
    expect((await emit(key, event()).expect(202)).headers).not.toHaveProperty('idempotent-replayed');
    expect(await traces()).toEqual([1, 1]);
  });
});
