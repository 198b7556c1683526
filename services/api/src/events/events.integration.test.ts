import { fromPublicId } from '@enterprise-api/shared/runtime';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApi, type TestApi } from '../testing/test-api.ts';

let api: TestApi;
let organization_id: string;
beforeAll(async () => {
  api = await startTestApi();
  organization_id = (await api.createOrganization()).id;
});
afterAll(() => api.stop());

const path = '/internal/v1/events';
const event = (fields: object = {}) => ({ organization_id, type: 'batch.failed', data: { batch_id: 'b1' }, ...fields });
const emit = (body: object | string) => api.internal('post', path).set('Content-Type', 'application/json').send(body);

async function rowOf(id: string) {
  const uuid = fromPublicId('evt', id) as string;
  const withBodies = api.db.selectFrom('events').innerJoin('event_bodies', 'event_bodies.event_id', 'events.id');
  return withBodies.selectAll().where('id', '=', uuid).executeTakeFirst();
}

describe('POST /internal/v1/events', () => {
  it('202, and the event and its outbox row are written', async () => {
    const data = { batch_id: 'b1', nested: { any: ['thing', 1, null, true] } };
    const { body } = await emit(event({ data, occurred_at: '2026-11-21T09:00:00.5+02:00' })).expect(202);
    expect(body).toEqual({
      data: [{ id: expect.stringMatching(/^evt_/), type: 'batch.failed', organization_id, duplicate: false }],
    });
    const { id } = body.data[0];
    expect(JSON.parse((await rowOf(id))?.body ?? '')).toEqual({
      id,
      type: 'batch.failed',
      timestamp: '2026-11-21T07:00:00.500Z',
      organization_id,
      data,
    });
    const uuid = fromPublicId('evt', id) as string;
    expect(await api.db.selectFrom('outbox').selectAll().where('event_id', '=', uuid).execute()).toHaveLength(1);
  });

  it('202 for numbers of any length, which are sent as they were written', async () => {
    const deep = `${'{"a":'.repeat(19)}0.12345678901234567890${'}'.repeat(19)}`;
    const data = `{"batch_id":"b","id":12345678901234567890,"small":[-9007199254740993,1e3],"deep":${deep}}`;
    const { body } = await emit(`{"organization_id":"${organization_id}","type":"batch.failed","data":${data}}`).expect(
      202,
    );
    const kept = data.replace('1e3', '1000');
    expect((await rowOf(body.data[0].id))?.body).toContain(`"data":${kept}}`);
  });

  it('202 for names such as __proto__ in data, which are passed on like any other and change no prototype', async () => {
    const data =
      '{"batch_id":"b","__proto__":{"polluted":1},"a":[{"__proto__":{"polluted":2}}],"big":{"__proto__":12345678901234567890},"constructor":{"prototype":{"polluted":3}}}';
    const text = `{"organization_id":"${organization_id}","type":"batch.failed","data":${data}}`;
    const { body } = await emit(text).expect(202);
    expect((await rowOf(body.data[0].id))?.body).toContain(`"data":${data}}`);
    const batch = await emit(`{"events":[${text}]}`).expect(202);
    expect((await rowOf(batch.body.data[0].id))?.body).toContain(`"data":${data}}`);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });

  it('202 for a batch, in its order', async () => {
    const types = ['batch.completed', 'batch.failed', 'batch.partial_failure'];
    const { body } = await emit({ events: types.map((type) => event({ type })) }).expect(202);
    expect(body.data.map((each: { type: string }) => each.type)).toEqual(types);
  });

  it('202 for an id that was used before, with any body: the first event is kept', async () => {
    const first = (await emit(event({ id: 'job-1' })).expect(202)).body.data[0];
    const again = (await emit(event({ id: 'job-1', type: 'batch.completed' })).expect(202)).body.data[0];
    expect(again).toEqual({ ...first, duplicate: true });
    const other = await emit(event({ id: 'job-1', organization_id: (await api.createOrganization()).id })).expect(202);
    expect(other.body.data[0].duplicate).toBe(false);
  });

  it('202 for data of exactly 256 KiB, and 1,000 events at once', async () => {
    const overhead = JSON.stringify({ batch_id: '' }).length;
    await emit(event({ data: { batch_id: 'b', x: '' }, id: 'a' })).expect(202);
    const x = 'x'.repeat(256 * 1024 - overhead - ',"x":""'.length - 1);
    await emit(event({ data: { batch_id: 'b', x } })).expect(202);
    await emit({ events: Array.from({ length: 1_000 }, () => event()) }).expect(202);
  });

  it('202 for data that is 20 deep, alone and in a batch', async () => {
    const deep = (depth: number): unknown => (depth === 0 ? 1 : { a: deep(depth - 1) });
    const data = { batch_id: 'b', deep: deep(19) };
    await emit(event({ data })).expect(202);
    await emit({ events: [event({ data })] }).expect(202);
    const answer = await emit(event({ data: { batch_id: 'b', deep: deep(20) } })).expect(400);
    expect(answer.body.error.code).toBe('validation_failed');
  });

  it.each([
    [{ data: {} }, 'data.batch_id'],
    [{ data: { batch_id: 5 } }, 'data.batch_id'],
    [{ data: { batch_id: '' } }, 'data.batch_id'],
    [{ type: 'consultation.failed' }, 'data.consultation_id'],
    [{ type: 'webhook.test' }, 'type'],
    [{ type: 'batch.*' }, 'type'],
    [{ data: [] }, 'data'],
    [{ data: null }, 'data'],
    [{ id: '' }, 'id'],
    [{ id: 'with space' }, 'id'],
    [{ id: 'x'.repeat(129) }, 'id'],
    [{ occurred_at: '2026-11-21' }, 'occurred_at'],
    [{ organization_id: 'org_x' }, 'organization_id'],
    [{ organization_id: 'org_01jd6kz5r8e2v9qxm3c7t4b0na' }, 'organization_id'],
    [{ data: { batch_id: 'b', x: 'x'.repeat(256 * 1024) } }, 'data'],
    [{ data: { batch_id: 'b', x: 'a\0b' } }, 'data.x'],
    [{ extra: 1 }, 'extra'],
  ])('400 for an event with %j', async (fields, param) => {
    const alone = await emit(event(fields)).expect(400);
    expect(alone.body.error).toMatchObject({ code: 'validation_failed', param });
  });

  it.each([['{"batch_id":"b","x":"\\ud800"}'], ['{"batch_id":"b","x":1e999}'], ['{"batch_id":"b","batch_id":"c"}']])(
    '400 for data %s',
    async (data) => {
      await emit(`{"organization_id":"${organization_id}","type":"batch.failed","data":${data}}`).expect(400);
    },
  );

  it.each([[[]], [Array.from({ length: 1_001 }, () => null)]])(
    '400 for no events, and for more than 1,000',
    async (events) => {
      await emit({ events }).expect(400);
    },
  );

  it('400 for a batch with one invalid event, and no event of it is written', async () => {
    const unknown = { organization_id: 'org_01jd6kz5r8e2v9qxm3c7t4b0na' };
    const answer = await emit({ events: [event({ id: 'none-1' }), event(unknown)] }).expect(400);
    expect(answer.body.error).toMatchObject({ code: 'validation_failed', param: 'events[1].organization_id' });
    const retried = await emit(event({ id: 'none-1' })).expect(202);
    expect(retried.body.data[0].duplicate).toBe(false);
  });

  it('401 without the secret', async () => {
    await emit(event()).set('Authorization', 'Bearer x').expect(401);
  });

  it('413 beyond 4 MiB', async () => {
    const answer = await emit(`"${'x'.repeat(4 * 1024 * 1024)}"`).expect(413);
    expect(answer.body.error.code).toBe('payload_too_large');
  });
});
