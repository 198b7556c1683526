import { fromPublicId } from '@enterprise-api/shared/runtime';
import { describe, expect, it } from '@jest/globals';
import { type TestApi, withCustomer } from '../testing/test-api.ts';

let api: TestApi;
let key: string;
let organizationId: string;
let webhookId: string;
withCustomer(async (customer) => {
  ({ api, key, organizationId } = customer);
  webhookId = (await api.createWebhook(key)).id;
});

const events = '/v1/events';
const deliveries = '/v1/webhooks/deliveries';
const internal = (path: string) => api.internal('get', `/internal/v1/organizations/${organizationId}/${path}`);
const uuidOf = (id: string) => fromPublicId(id.slice(0, 3), id) as string;

async function emit(subject: string, type = 'batch.failed', of = organizationId): Promise<string> {
  const data = { batch_id: subject, consultation_id: subject };
  const { body } = await api
    .internal('post', '/internal/v1/events')
    .send({ organization_id: of, type, data })
    .expect(202);
  return body.data[0].id;
}

/** What a worker writes when it fans an event out. */
async function fanOut(id: string, subject: string, of = organizationId): Promise<void> {
  await api.db.deleteFrom('outbox').where('event_id', '=', uuidOf(id)).execute();
  await api.db
    .insertInto('event_subjects')
    .values({ event_id: uuidOf(id), organization_id: uuidOf(of), subject })
    .execute();
}

async function emitted(subject: string, type?: string): Promise<string> {
  const id = await emit(subject, type);
  await fanOut(id, subject);
  return id;
}

/** A delivery of an event, as a fan-out writes it. @returns its id */
async function deliver(eventId: string): Promise<string> {
  const { rows } = await api.db.executeQuery<{ id: string }>(
    api.db
      .insertInto('deliveries')
      .values(({ fn, val, cast }) => ({
        id: fn('delivery_id', [
          cast<string>(val(uuidOf(eventId)), 'uuid'),
          cast<string>(val(uuidOf(webhookId)), 'uuid'),
        ]),
        organization_id: uuidOf(organizationId),
        webhook_id: uuidOf(webhookId),
        event_id: uuidOf(eventId),
        event_type: 'batch.failed',
        status: 'failed' as const,
        max_attempts: 3,
        completed_at: new Date(),
        last_status_code: null,
        last_error: null,
        last_duration_ms: null,
      }))
      .returning('id')
      .compile(),
  );
  return rows[0]?.id ?? '';
}

async function list(path: string, query: Record<string, string> = {}): Promise<{ ids: string[]; next: string }> {
  const { body } = await api.call('get', `${path}?${new URLSearchParams(query).toString()}`, key).expect(200);
  return { ids: body.data.map(({ id }: { id: string }) => id), next: body.next_cursor };
}

describe.each([events, deliveries])('GET %s by subject', (path) => {
  const isEvents = path === events;
  /** @returns the id of the event, or of its delivery */
  const make = async (subject: string, type?: string) => {
    const id = await emitted(subject, type);
    const delivery = await deliver(id);
    if (isEvents) return id;
    const found = await list(path, { event_id: id });
    expect(uuidOf(found.ids[0] ?? '')).toBe(delivery);
    return found.ids[0] as string;
  };

  it('200 with what has exactly this subject, and shows it', async () => {
    const found = await make('Straße');
    for (const other of ['strasse', 'STRASSE', 'Straße ', 'Strasse', 'Straßе']) await make(other);
    expect((await list(path, { subject: 'Straße' })).ids).toEqual([found]);
    const { body } = await api.call('get', `${path}/${found}`, key).expect(200);
    expect(body.subject).toBe('Straße');
    for (const nothing of ['Stra_e', '%', 'x'.repeat(200), '🜁'.repeat(200)]) {
      expect((await list(path, { subject: nothing })).ids).toEqual([]);
    }
  });

  it('200 page by page, in both orders, with other filters', async () => {
    const made: string[] = [];
    for (let count = 0; count < 5; count++) {
      made.push(await make('con_1'));
      await make('con_2');
    }
    for (const [order, expected] of [
      ['desc', made.toReversed()],
      ['asc', made],
    ] as const) {
      const seen: string[] = [];
      let more = {};
      for (let page = 0; page < 3; page++) {
        const { ids, next } = await list(path, { subject: 'con_1', order, limit: '2', ...more });
        seen.push(...ids);
        more = { cursor: next };
      }
      expect(seen).toEqual(expected);
    }
    const typed = { [isEvents ? 'type' : 'event_type']: 'batch.failed', subject: 'con_1' };
    expect((await list(path, typed)).ids).toEqual(made.toReversed());
    expect((await list(path, { ...typed, [isEvents ? 'type' : 'event_type']: 'batch.completed' })).ids).toEqual([]);
    expect((await list(path, { subject: 'con_1', since: '2026-01-01T00:00:00Z' })).ids).toHaveLength(5);
    expect((await list(path, { subject: 'con_1', until: '2026-01-01T00:00:00Z' })).ids).toEqual([]);
    if (isEvents) return;
    expect((await list(path, { subject: 'con_1', status: 'failed', webhook_id: webhookId })).ids).toHaveLength(5);
    expect((await list(path, { subject: 'con_1', status: 'pending' })).ids).toEqual([]);
  });

  it("200 without another organization's", async () => {
    await make('con_1');
    const stranger = await api.createKey();
    const { body } = await api.call('get', `${path}?subject=con_1`, stranger.secret).expect(200);
    expect(body.data).toEqual([]);
  });

  it('400 for a subject without characters, with more than 200, or that no event can have, and for another subject with a cursor', async () => {
    for (const subject of ['', 'x'.repeat(201), '🜁'.repeat(201), '%00']) {
      const text = subject === '%00' ? subject : encodeURIComponent(subject);
      const { body } = await api.call('get', `${path}?subject=${text}`, key).expect(400);
      expect(body.error).toMatchObject({ code: 'validation_failed', param: 'subject' });
    }
    for (let count = 0; count < 2; count++) await make('con_1');
    const { next } = await list(path, { subject: 'con_1', limit: '1' });
    const { body } = await api.call('get', `${path}?subject=con_2&cursor=${next}`, key).expect(400);
    expect(body.error.code).toBe('invalid_cursor');
  });
});

it('who follows a subject sees each event once, also one whose fan-out was late', async () => {
  const read = (cursor?: string) => list(events, { subject: 'con_1', order: 'asc', ...(cursor && { cursor }) });
  const first = await emitted('con_1');
  const late = await emit('con_1');
  const parked = await emit('con_1');
  const last = await emitted('con_1');
  const page = await read();
  expect(page.ids).toEqual([first]);
  await fanOut(late, 'con_1');
  await api.db.deleteFrom('outbox').where('event_id', '=', uuidOf(parked)).execute();
  await api.db
    .insertInto('parked_events')
    .values({
      event_id: uuidOf(parked),
      organization_id: uuidOf(organizationId),
      created_at: new Date(),
      reason: '23514 deliveries',
      failures: 1,
      retry_at: new Date(),
    })
    .execute();
  const next = await read(page.next);
  expect(next.ids).toEqual([late]);
  await api.db.deleteFrom('parked_events').where('event_id', '=', uuidOf(parked)).execute();
  await fanOut(parked, 'con_1');
  expect((await read(next.next)).ids).toEqual([parked, last]);
});

it('events and deliveries that are not fanned out, and tests, show null', async () => {
  const id = await emit('con_1');
  const { body } = await api.call('get', `${events}/${id}`, key).expect(200);
  expect(body.subject).toBeNull();
  const test = await api
    .call('post', `/v1/webhooks/${webhookId}/test`, key)
    .send({ type: 'consultation.completed' })
    .expect(202);
  expect(test.body.subject).toBeNull();
  const shown = await api.call('get', `${deliveries}/${test.body.id}`, key).expect(200);
  expect(shown.body.subject).toBeNull();
});

it('a retry shows the subject, and its body has none', async () => {
  const id = await emitted('con_1');
  await deliver(id);
  const { ids } = await list(deliveries, { subject: 'con_1' });
  const { body } = await api.call('post', `${deliveries}/${ids[0]}/retry`, key).expect(202);
  expect(body).toMatchObject({ subject: 'con_1', status: 'pending' });
  const shown = await api.call('get', `${deliveries}/${ids[0]}`, key).expect(200);
  expect(Object.keys(JSON.parse(shown.body.request.body))).toEqual([
    'id',
    'type',
    'timestamp',
    'organization_id',
    'data',
  ]);
});

describe('GET /internal/v1/organizations/{id}/events', () => {
  it('200 with the filters of the organization itself, without data', async () => {
    const [one, two] = [await emitted('con_1'), await emitted('con_2', 'consultation.failed')];
    const { body } = await internal('events').expect(200);
    expect(body.data).toEqual([expect.objectContaining({ id: two }), expect.objectContaining({ id: one })]);
    const ofSubject = await internal('events?subject=con_1&type=batch.failed').expect(200);
    expect(ofSubject.body).toEqual({
      object: 'list',
      data: [
        {
          id: one,
          object: 'event',
          type: 'batch.failed',
          subject: 'con_1',
          created_at: expect.any(String),
          occurred_at: null,
          erased_at: null,
        },
      ],
      has_more: false,
      next_cursor: null,
    });
    const oldest = await internal('events?order=asc&limit=1').expect(200);
    expect(oldest.body.data).toEqual([expect.objectContaining({ id: one })]);
    const next = await internal(`events?order=asc&limit=1&cursor=${oldest.body.next_cursor}`).expect(200);
    expect(next.body.data).toEqual([expect.objectContaining({ id: two })]);
    await internal('events?subject=').expect(400);
    await internal('deliveries?subject=').expect(400);
  });

  it('404 for an unknown organization', async () => {
    await api.internal('get', '/internal/v1/organizations/org_01jd6kz5r8e2v9qxm3c7t4b0na/events').expect(404);
  });
});

describe('GET /internal/v1/organizations/{id}/events/{event_id}', () => {
  it('200 with its data, and the webhooks that got it', async () => {
    const id = await emitted('con_1');
    const delivery = await deliver(id);
    const { body } = await internal(`events/${id}`).expect(200);
    expect(body).toMatchObject({ id, subject: 'con_1', data: { batch_id: 'con_1' } });
    expect(body.webhooks).toEqual([
      { id: webhookId, url: 'https://hooks.example.com/in', delivery_id: expect.any(String), status: 'failed' },
    ]);
    expect(uuidOf(body.webhooks[0].delivery_id)).toBe(delivery);
    const listed = await internal('deliveries?subject=con_1').expect(200);
    expect(listed.body.data.map((each: { id: string }) => each.id)).toEqual([body.webhooks[0].delivery_id]);
  });

  it("404 for an unknown event and for another organization's", async () => {
    const stranger = await api.createOrganization();
    await internal(`events/${await emit('con_1', 'batch.failed', stranger.id)}`).expect(404);
    await internal('events/evt_01jd6kz5r8e2v9qxm3c7t4b0na').expect(404);
    await api.internal('get', `/internal/v1/organizations/${stranger.id}/events/${await emit('con_1')}`).expect(404);
  });
});
