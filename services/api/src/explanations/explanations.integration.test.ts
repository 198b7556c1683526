import { fromPublicId, newUuid, toPublicId, withUuidTime } from '@enterprise-api/shared/runtime';
import { alignPendingDeliveries } from '@enterprise-api/testkit';
import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { deriveDeliveryId } from '../core/derived-id.ts';
import { contentsOf } from '../testing/contents.ts';
import { openQueryPlans, rowsRead, wholeTablesRead } from '../testing/query-plan.ts';
import { type TestApi, withCustomer } from '../testing/test-api.ts';
import { findFannedOut, listWebhooksAt } from './queries.ts';

let api: TestApi;
let key: string;
let organizationId: string;
withCustomer((customer) => {
  ({ api, key, organizationId } = customer);
});

const uuidOf = (id: string) => fromPublicId(id.slice(0, 3), id) as string;
const expectProblem = (sent: ReturnType<TestApi['call']>, status: number, code: string) =>
  sent.expect(status).expect(({ body }) => expect(body.error.code).toBe(code));

/** The fan-out of every event here runs from `began` to `ended`; other times are milliseconds from `began`. */
const began = Date.now() - 3_600_000;
const at = (ms: number) => new Date(began + ms);
const ended = 100;

/** An event that was accepted a minute before its fan-out. */
async function insertEvent(state: 'waiting' | 'fanned out' | 'neither' = 'fanned out'): Promise<string> {
  const id = withUuidTime(newUuid(), began - 60_000);
  const organization_id = uuidOf(organizationId);
  const event = { id, organization_id, type: 'batch.failed', occurred_at: null, created_at: at(-60_000) };
  await api.db.insertInto('events').values(event).execute();
  if (state === 'waiting') await api.db.insertInto('outbox').values({ event_id: id, organization_id }).execute();
  if (state === 'fanned out')
    await api.db
      .insertInto('fan_outs')
      .values({ event_id: id, began_at: at(0), ended_at: at(ended) })
      .execute();
  return id;
}

async function insertDelivery(eventId: string, webhookId: string, fields: object = {}): Promise<string> {
  const id = deriveDeliveryId(eventId, uuidOf(webhookId));
  const base = {
    organization_id: uuidOf(organizationId),
    webhook_id: uuidOf(webhookId),
    event_id: eventId,
    max_attempts: 10,
  };
  const delivery = { id, ...base, event_type: 'batch.failed', created_at: at(ended), status: 'succeeded' as const };
  await api.db
    .insertInto('deliveries')
    .values({
      last_error: null,
      last_status_code: null,
      last_duration_ms: null,
      completed_at: at(200),
      ...delivery,
      ...fields,
    })
    .execute();
  await alignPendingDeliveries(api.db);
  return toPublicId('dlv', id);
}

/** A webhook of yesterday, whose changes were made then. */
async function createWebhook(...changes: object[]): Promise<string> {
  const { id } = await api.createWebhook(key, changes[0]);
  for (const change of changes.slice(1)) await api.call('patch', `/v1/webhooks/${id}`, key).send(change).expect(200);
  await sql`update webhooks set created_at = ${at(-86_400_000)} where id = ${uuidOf(id)}`.execute(api.db);
  await changeAt(id, [-86_400_000, -86_300_000]);
  return id;
}

/** Dates the newest change of a webhook, or all. */
async function changeAt(id: string, [from, to]: readonly [number, number | null], version = 1): Promise<void> {
  await sql`update webhook_versions set change_began_at = ${at(from)}, change_ended_at = ${to === null ? null : at(to)}::timestamptz
    where webhook_id = ${uuidOf(id)} and version >= ${version}`.execute(api.db);
}

const explain = async (eventId: string, query = '') =>
  (await api.call('get', `/v1/events/${toPublicId('evt', eventId)}/explain${query}`, key).expect(200)).body;
const webhookOf = async (eventId: string, id: string) => (await explain(eventId, `?webhook_id=${id}`)).data[0];

describe('GET /v1/events/{event_id}/explain', () => {
  it('200 with what became of each delivery, the newest webhook first', async () => {
    const eventId = await insertEvent('neither');
    const ids: string[] = [];
    for (let count = 0; count < 4; count++) ids.push(await createWebhook({}));
    const [failed, canceled, pending, succeeded] = ids as [string, string, string, string];
    await insertDelivery(eventId, failed, { status: 'failed', attempt_count: 10, last_error: 'timeout' });
    await insertDelivery(eventId, canceled, { status: 'canceled', canceled_reason: 'erased' });
    const waiting = await insertDelivery(eventId, pending, { status: 'pending', completed_at: null });
    await insertDelivery(eventId, succeeded);
    const { next_attempt_at: due } = await api.db
      .selectFrom('pending_deliveries')
      .select('next_attempt_at')
      .where('webhook_id', '=', uuidOf(pending))
      .executeTakeFirstOrThrow();
    const done = {
      certain: true,
      next_attempt_at: null,
      waiting_for: null,
      delivery_id: expect.stringMatching(/^dlv_/),
    };
    const when = at(200).toISOString();
    expect(await explain(eventId)).toEqual({
      object: 'explanation',
      event_id: toPublicId('evt', eventId),
      event_type: 'batch.failed',
      created_at: at(-60_000).toISOString(),
      fanned_out_at: at(ended).toISOString(),
      data: [
        { ...done, webhook_id: succeeded, outcome: 'succeeded', reason: null, message: `It was delivered at ${when}.` },
        {
          ...done,
          webhook_id: pending,
          outcome: 'pending',
          reason: null,
          message: `It has been due since ${due.toISOString()}, and waits for a free worker.`,
          delivery_id: waiting,
          next_attempt_at: due.toISOString(),
          waiting_for: 'capacity',
        },
        {
          ...done,
          webhook_id: canceled,
          outcome: 'canceled',
          reason: 'erased',
          message: `It was canceled at ${when}, because the event was erased.`,
        },
        {
          ...done,
          webhook_id: failed,
          outcome: 'failed',
          reason: 'timeout',
          message: `It failed at ${when}, after 10 attempts. The last error was timeout.`,
        },
      ],
    });
  });

  it('200 with why a webhook was skipped, as it was at the fan-out and not as it is now', async () => {
    const eventId = await insertEvent();
    const fannedOut = `When the event was fanned out at ${at(ended).toISOString()}, the webhook`;
    const cases = [
      [await createWebhook({ enabled: false }), 'disabled', `${fannedOut} was disabled.`],
      [
        await createWebhook({ events: ['batch.completed', 'consultation.*'] }),
        'not_subscribed',
        `${fannedOut} subscribed to batch.completed, consultation.*, not to batch.failed.`,
      ],
      [await createWebhook({ enabled: false, events: ['batch.completed'] }), 'disabled', expect.any(String)],
    ] as const;
    for (const [id] of cases) await api.call('patch', `/v1/webhooks/${id}`, key).send({ enabled: true, events: ['*'] });
    for (const [webhook_id, reason, message] of cases) {
      const skipped = { outcome: 'skipped', delivery_id: null, next_attempt_at: null, waiting_for: null };
      expect(await webhookOf(eventId, webhook_id)).toEqual({ ...skipped, webhook_id, reason, message, certain: true });
    }
  });

  it('200 with a webhook that was created later, for as long as it exists', async () => {
    const eventId = await insertEvent();
    const { id, created_at } = await api.createWebhook(key, { enabled: false });
    const message = `The webhook was created at ${created_at}, after the event at ${at(-60_000).toISOString()}.`;
    expect(await explain(eventId)).toMatchObject({
      data: [{ webhook_id: id, outcome: 'skipped', reason: 'created_later', message, certain: true }],
    });
    await api.call('delete', `/v1/webhooks/${id}`, key).expect(204);
    expect(await explain(eventId)).toMatchObject({ data: [] });
  });

  it('200 with a webhook that was deleted after the event, and not with one that was deleted before', async () => {
    const [eventId, later, between, before] = [
      await insertEvent(),
      await createWebhook({ events: ['batch.completed'] }),
      await createWebhook({}),
      await createWebhook({}),
    ];
    for (const id of [later, between, before]) await api.call('delete', `/v1/webhooks/${id}`, key).expect(204);
    const deleteAt = async (id: string, ms: number) => {
      await changeAt(id, [ms - 10, ms + 10], 2);
      await sql`update webhooks set updated_at = ${at(ms)} where id = ${uuidOf(id)}`.execute(api.db);
    };
    await deleteAt(between, -30_000);
    await deleteAt(before, -60_010);
    const message = `The webhook was deleted at ${at(-30_000).toISOString()}.`;
    expect((await explain(eventId)).data).toMatchObject([
      { webhook_id: between, outcome: 'skipped', reason: 'deleted', message, certain: true },
      { webhook_id: later, outcome: 'skipped', reason: 'not_subscribed', certain: true },
    ]);
    await api.call('get', `/v1/events/${toPublicId('evt', eventId)}/explain?webhook_id=${before}`, key).expect(404);
  });

  it('200 with what an event that is not fanned out will get', async () => {
    const eventId = await insertEvent('waiting');
    const [matching, other] = [await createWebhook({}), await createWebhook({ events: ['consultation.*'] })];
    expect(await explain(eventId)).toMatchObject({
      fanned_out_at: null,
      data: [
        {
          webhook_id: other,
          outcome: 'skipped',
          reason: 'not_subscribed',
          message: 'The webhook subscribes to consultation.*, not to batch.failed.',
        },
        { webhook_id: matching, outcome: 'pending', reason: 'not_fanned_out', delivery_id: null, certain: true },
      ],
    });
    await sql`with w as (delete from outbox where event_id = ${eventId} returning *)
      insert into parked_events (event_id, organization_id, created_at, reason, failures, retry_at)
      select *, '23514', 1, now() from w`.execute(api.db);
    expect(await webhookOf(eventId, matching)).toMatchObject({ outcome: 'pending', reason: 'not_fanned_out' });
  });

  it('200 with a delivery that an erasure came before', async () => {
    const eventId = await insertEvent('neither');
    const [matching, other] = [await createWebhook({}), await createWebhook({ enabled: false })];
    await sql`update events set erased_at = ${at(5)} where id = ${eventId}`.execute(api.db);
    const message = `The event was erased at ${at(5).toISOString()}, before its fan-out.`;
    expect((await explain(eventId)).data).toMatchObject([
      { webhook_id: other, outcome: 'skipped', reason: 'disabled', certain: true },
      { webhook_id: matching, outcome: 'canceled', reason: 'erased', message, delivery_id: null, certain: true },
    ]);
  });

  it.each([
    ['a subject', () => ({ subject: 'bat_1' })],
    ['its id', (eventId: string) => ({ event_ids: [toPublicId('evt', eventId)] })],
    ['a time', () => ({ before: at(0).toISOString(), confirm: organizationId })],
    ['everything', () => ({ all: true, confirm: organizationId })],
  ])('200 without a promise for an event that waits while %s is being erased', async (_name, selection) => {
    const id = await createWebhook({});
    const earlier = await insertEvent('waiting');
    const body = JSON.stringify({ data: { batch_id: 'bat_1' } });
    await api.db.insertInto('event_bodies').values({ event_id: earlier, body }).execute();
    const erase = (of: object) =>
      api
        .internal('post', '/internal/v1/erasures')
        .send({ organization_id: organizationId, ...of })
        .expect(202);
    await erase({ subject: 'bat_2' });
    await erase({ event_ids: [toPublicId('evt', newUuid())] });
    await erase({ before: at(-120_000).toISOString(), confirm: organizationId });
    const promised = { outcome: 'pending', reason: 'not_fanned_out' };
    expect(await webhookOf(earlier, id)).toMatchObject(promised);
    await erase(selection(earlier));
    const message = 'The event is being erased, before its fan-out.';
    expect(await webhookOf(earlier, id)).toMatchObject({ outcome: 'canceled', reason: 'erased', message });
    await sql`update events set created_at = clock_timestamp() where id = ${earlier}`.execute(api.db);
    expect(await webhookOf(earlier, id)).toMatchObject(promised);
    await sql`update events set created_at = ${at(-60_000)} where id = ${earlier}`.execute(api.db);
    await sql`update erasures set completed_at = now(), selection_sealed = null, selected_subject = null,
      selected_ids = null, selected_before = null`.execute(api.db);
    expect(await webhookOf(earlier, id)).toMatchObject(promised);
  });

  it('200 with what can be said of an event that an earlier version fanned out', async () => {
    const eventId = await insertEvent('neither');
    const [same, changed, unknown] = [
      await createWebhook({ enabled: false }),
      await createWebhook({ enabled: false }, { description: 'x' }),
      await createWebhook({}),
    ];
    await changeAt(changed, [0, 20], 1);
    await sql`update webhook_versions set state = null, event_patterns = null where webhook_id = ${uuidOf(unknown)}`.execute(
      api.db,
    );
    expect((await explain(eventId)).data).toMatchObject([
      { webhook_id: unknown, outcome: 'skipped', reason: null, certain: false },
      { webhook_id: changed, outcome: 'skipped', reason: 'disabled', certain: false },
      { webhook_id: same, outcome: 'skipped', reason: 'disabled', certain: true },
    ]);
  });

  it('200 with the webhook that an operational event is about', async () => {
    const eventId = await insertEvent();
    const id = await createWebhook({ events: ['batch.failed'] });
    const about = uuidOf(id);
    await api.db.insertInto('operational_events').values({ event_id: eventId, about }).execute();
    expect(await webhookOf(eventId, id)).toMatchObject({ outcome: 'skipped', reason: null, certain: true });
  });

  it('404 if the event or the webhook is unknown or belongs to another organization, and if the event is a test', async () => {
    const eventId = await insertEvent();
    const path = `/v1/events/${toPublicId('evt', eventId)}/explain`;
    const webhookId = await createWebhook({});
    const { secret: other } = await api.createKey();
    await expectProblem(api.call('get', path, other), 404, 'not_found');
    const { id: othersWebhook } = await api.createWebhook(other);
    for (const query of [`?webhook_id=${othersWebhook}`, `?webhook_id=${toPublicId('whk', newUuid())}`])
      await expectProblem(api.call('get', path + query, key), 404, 'not_found');
    for (const id of [toPublicId('evt', newUuid()), 'evt_1'])
      await expectProblem(api.call('get', `/v1/events/${id}/explain`, key), 404, 'not_found');
    const test = await api.call('post', `/v1/webhooks/${webhookId}/test`, key).expect(202);
    await expectProblem(api.call('get', `/v1/events/${test.body.event_id}/explain`, key), 404, 'not_found');
  });
});

describe('`certain` of GET /v1/events/{event_id}/explain', () => {
  const asBefore = { reason: 'disabled', certain: true };
  const asChanged = { reason: 'not_subscribed', certain: true };
  const uncertain = { certain: false };

  /** When the change's transaction began and ended. */
  it.each([
    [-5_000, -1_000, asChanged],
    [-5_000, -999, uncertain],
    [-5_000, 0, uncertain],
    [-5_000, 50, uncertain],
    [-5_000, 5_000, uncertain],
    [-5_000, null, uncertain],
    [50, 60, uncertain],
    [ended - 1, 5_000, uncertain],
    [ended, 5_000, asBefore],
    [ended + 1, null, asBefore],
  ] as const)('after a change from %i to %s ms after the fan-out began', async (from, to, expected) => {
    const eventId = await insertEvent();
    const id = await createWebhook({ enabled: false }, { enabled: true, events: ['consultation.*'] });
    await changeAt(id, [from, to], 2);
    expect(await webhookOf(eventId, id)).toMatchObject({ outcome: 'skipped', ...expected });
  });

  it('goes by the first delivery where the fan-out noted nothing', async () => {
    const eventId = await insertEvent('neither');
    await insertDelivery(eventId, await createWebhook({}), { created_at: at(ended + 5) });
    await insertDelivery(eventId, await createWebhook({}));
    const id = await createWebhook({ enabled: false }, { enabled: true, events: ['consultation.*'] });
    for (const [from, to, expected] of [
      [-5_000, ended - 1_500, asChanged],
      [-5_000, ended - 1_499, uncertain],
      [ended - 1, 5_000, uncertain],
      [ended, 5_000, asBefore],
    ] as const) {
      await changeAt(id, [from, to], 2);
      expect([from, to, await webhookOf(eventId, id)]).toMatchObject([from, to, expected]);
    }
  });

  it('is true with a delivery, whatever changed meanwhile', async () => {
    const eventId = await insertEvent('neither');
    const id = await createWebhook({}, { enabled: false });
    await insertDelivery(eventId, id);
    await changeAt(id, [0, 50], 2);
    expect(await webhookOf(eventId, id)).toMatchObject({ outcome: 'succeeded', certain: true });
  });

  it('does not mind changes of the description or the secret', async () => {
    const eventId = await insertEvent();
    const id = await createWebhook({ enabled: false }, { description: 'x' });
    await api.call('post', `/v1/webhooks/${id}/rotate-secret`, key).expect(200);
    expect(await webhookOf(eventId, id)).toMatchObject(asBefore);
  });
});

describe('POST /v1/webhooks/explain', () => {
  const ask = (body: object) => api.call('post', '/v1/webhooks/explain', key).send(body);

  it('200 with what an event of a type would get now, and writes nothing', async () => {
    const [matching, other, disabled] = [
      await createWebhook({ events: ['batch.*'] }),
      await createWebhook({ events: ['consultation.*'] }),
      await createWebhook({ enabled: false }),
    ];
    const deleted = await createWebhook({});
    await api.call('delete', `/v1/webhooks/${deleted}`, key).expect(204);
    const before = await contentsOf(api.db);
    const none = { certain: true, delivery_id: null, next_attempt_at: null, waiting_for: null };
    const { body } = await ask({ type: 'batch.failed' }).expect(200);
    expect(body).toEqual({
      object: 'explanation',
      event_id: null,
      event_type: 'batch.failed',
      created_at: null,
      fanned_out_at: null,
      data: [
        { ...none, webhook_id: disabled, outcome: 'skipped', reason: 'disabled', message: 'The webhook is disabled.' },
        {
          ...none,
          webhook_id: other,
          outcome: 'skipped',
          reason: 'not_subscribed',
          message: 'The webhook subscribes to consultation.*, not to batch.failed.',
        },
        {
          ...none,
          webhook_id: matching,
          outcome: 'pending',
          reason: 'not_fanned_out',
          message: 'The webhook would get an event of this type.',
        },
      ],
    });
    expect((await ask({ type: 'batch.failed', webhook_id: other }).expect(200)).body.data).toEqual([body.data[1]]);
    expect(await contentsOf(api.db)).toBe(before);
  });

  it('200 uncertain just after a change', async () => {
    const { id } = await api.createWebhook(key);
    const { body } = await ask({ type: 'batch.failed' }).expect(200);
    expect(body.data).toMatchObject([{ webhook_id: id, outcome: 'pending', certain: false }]);
  });

  it('400 for a type that no webhook can subscribe to', async () => {
    for (const type of ['webhook.test', 'batch.*', 'unknown'])
      await expectProblem(ask({ type }), 400, 'validation_failed');
  });

  it('404 for unknown, deleted and other organizations’ webhooks', async () => {
    const id = await createWebhook({});
    await api.call('delete', `/v1/webhooks/${id}`, key).expect(204);
    const { id: other } = await api.createWebhook((await api.createKey()).secret);
    for (const webhook_id of [id, other, toPublicId('whk', newUuid())])
      await expectProblem(ask({ type: 'batch.failed', webhook_id }), 404, 'not_found');
  });
});

it('an explanation reads no table as a whole, and few rows', async () => {
  for (let count = 0; count < 100; count++) await createWebhook({});
  const id = uuidOf(organizationId);
  await sql`insert into webhook_versions (webhook_id, version, url, event_patterns, state, change_began_at, change_ended_at)
    select id, n, '', '{*}', 'enabled', ${at(-1_000_000)}::timestamptz + n * interval '1 second', ${at(-999_000)}::timestamptz + n * interval '1 second'
    from webhooks, generate_series(3, 20) n`.execute(api.db);
  await sql`insert into events (id, organization_id, type, created_at)
    select (lpad(to_hex(${began}::bigint - 1000 * n), 12, '0') || right(gen_random_uuid()::text, 23))::uuid, ${id}, 'batch.failed', ${at(0)}::timestamptz - n * interval '1 second'
    from generate_series(1, 2000) n`.execute(api.db);
  await sql`insert into deliveries (id, organization_id, webhook_id, event_id, event_type, status, max_attempts, created_at)
    select delivery_id(e.id, w.id), ${id}, w.id, e.id, e.type, 'succeeded', 10, e.created_at
    from events e cross join (select id from webhooks where organization_id = ${id} limit 20) w where e.organization_id = ${id}`.execute(
    api.db,
  );
  await sql`insert into fan_outs (event_id, began_at) select id, created_at from events on conflict do nothing`.execute(
    api.db,
  );
  await sql`analyze events, deliveries, fan_outs, webhook_versions, webhooks, pending_deliveries`.execute(api.db);
  const eventId = await insertEvent();
  const plans = openQueryPlans(api.database.url);
  const tables = /^(events|deliveries|fan_outs|webhook_versions|pending_deliveries)/;
  const asked = { acceptedAt: at(-60_000).toISOString(), from: at(-1_000).toISOString(), until: at(0).toISOString() };
  for (const plan of [
    await plans.of((db) => findFannedOut(db, id, eventId)),
    await plans.of((db) => listWebhooksAt(db, id, { ...asked, eventId, webhookId: undefined })),
    await plans.of((db) => listWebhooksAt(db, id, { webhookId: undefined })),
  ]) {
    expect(wholeTablesRead(plan, tables)).toEqual([]);
    expect(rowsRead(plan, tables)).toBeLessThan(5_000);
  }
  await plans.close();
});
