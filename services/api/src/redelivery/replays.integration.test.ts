import { countInvariantViolations, countReplay } from '@enterprise-api/shared/ledger';
import { fromPublicId, newUuid, toPublicId, withUuidTime } from '@enterprise-api/shared/runtime';
import { insertEvents, testEvent, untilLockWait } from '@enterprise-api/testkit';
import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { insertAttempt } from '../testing/rows.ts';
import type { TestApi } from '../testing/test-api.ts';
import { withWebhook } from '../testing/webhook-frame.ts';

let api: TestApi;
let key: string;
let organizationId: string;
let webhookId: string;
const { insert, rowOf, update, updatePending, uuidOf, disable } = withWebhook((customer) => {
  ({ api, key, organizationId, webhookId } = customer);
});

const since = '2026-01-01T00:00:00Z';
const replay = (body: object = {}, id = webhookId) =>
  api.call('post', `/v1/webhooks/${id}/replay`, key).send({ since, ...body });
const get = async (id: string) => (await api.call('get', `/v1/webhooks/replays/${id}`, key).expect(200)).body;
const cancel = (id: string) => api.call('post', `/v1/webhooks/replays/${id}/cancel`, key);
const shown = async (id: string) => (await api.call('get', `/v1/webhooks/deliveries/${id}`, key).expect(200)).body;

/** Events that were fanned out, and matched no webhook then. */
async function skip(count: number, values: Parameters<typeof testEvent>[1] = {}): Promise<string[]> {
  const events = await insertEvents(
    api.db,
    Array.from({ length: count }, () => testEvent(organizationId, values)),
  );
  const ids = events.map(({ id }) => id);
  await sql`delete from outbox where event_id = any (${ids}::uuid[])`.execute(api.db);
  return ids;
}

const deliveriesOf = async (eventIds: readonly string[]) =>
  eventIds.length === 0
    ? []
    : api.db
        .selectFrom('deliveries')
        .selectAll()
        .where('event_id', 'in', [...eventIds])
        .execute();

const pending = () =>
  api.db
    .selectFrom('pending_deliveries')
    .select(['event_id', 'next_attempt_at'])
    .where('webhook_id', '=', fromPublicId('whk', webhookId) as string)
    .execute();

/** As a worker records the attempt that delivers. */
async function deliver(id: string, number = 1) {
  await update(id, {
    status: 'succeeded',
    attempt_count: number,
    last_status_code: 204,
    last_error: null,
    last_duration_ms: 7,
    completed_at: new Date('2026-11-20T08:00:00.123Z'),
    delivered_by: withUuidTime(newUuid(), Date.UTC(2026, 10, 20, 8)),
    delivered_version: 1,
    excerpt: 'ok',
  });
}

/** As a worker records a failed attempt in the delivery's round, after which the delivery waits or has failed. */
async function fail(id: string, status: 'pending' | 'failed') {
  const { attempt_count: before, round } = await rowOf(id);
  await insertAttempt(api.db, id, { number: before + 1, round, webhook_version: 1, manual: true });
  await sql`update pending_deliveries set attempt_count = attempt_count + 1 where delivery_id = ${uuidOf(id)}`.execute(
    api.db,
  );
  const completed_at = status === 'pending' ? null : new Date();
  const last = { last_status_code: 500, last_error: 'http_error', last_duration_ms: 12 };
  await update(id, { attempt_count: before + 1, status, completed_at, ...last });
}

const count = (id: string) =>
  api.db.transaction().execute((trx) => countReplay(trx, fromPublicId('rpl', id) as string, 'completed'));

describe('POST /v1/webhooks/{id}/replay with filters', () => {
  it('202 for the types, errors and status codes that it names', async () => {
    const timeout = await insert({ status: 'failed' });
    await update(timeout.id, { last_error: 'timeout' });
    const refused = await insert({ status: 'failed', event_type: 'consultation.failed' });
    await update(refused.id, { last_error: 'http_error', last_status_code: 503 });
    const matched = async (filter: object) => (await replay({ dry_run: true, ...filter }).expect(200)).body.matched;
    expect(await matched({})).toBe(2);
    expect(await matched({ event_type: ['consultation.failed', 'batch.failed'] })).toBe(1);
    expect(await matched({ error: ['timeout', 'dns_failed'] })).toBe(1);
    expect(await matched({ status_code: [503] })).toBe(1);
    expect(await matched({ status_code: [503], error: ['timeout'] })).toBe(0);
    expect((await replay({ error: ['timeout'] }).expect(202)).body.matched).toBe(1);
    expect([(await rowOf(timeout.id)).status, (await rowOf(refused.id)).status]).toEqual(['pending', 'failed']);
  });

  it('202 and spreads the due times by the rate, over deliveries and skipped events', async () => {
    const ids = [];
    for (let nth = 0; nth < 4; nth++) ids.push((await insert({ status: 'failed' })).id);
    const events = await skip(4);
    const { body } = await replay({ rate_per_second: 2, status: ['failed', 'skipped'] }).expect(202);
    expect(body).toMatchObject({ matched: 8, rate_per_second: 2 });
    const rows = await pending();
    const times = rows.map(({ next_attempt_at: at }) => at.getTime()).sort((one, other) => one - other);
    expect(times.map((at) => at - (times[0] ?? 0))).toEqual([0, 500, 1_000, 1_500, 2_000, 2_500, 3_000, 3_500]);
    const last = rows.filter(({ next_attempt_at: at }) => at.getTime() - (times[0] ?? 0) >= 2_000);
    expect(last.map(({ event_id }) => event_id).sort()).toEqual(events.toSorted());
    expect((await shown(ids.at(-1) ?? '')).waiting_for).toBe('schedule');
  });

  it.each([
    [{ rate_per_second: 0 }, 'rate_per_second'],
    [{ rate_per_second: 1_001 }, 'rate_per_second'],
    [{ rate_per_second: 1.5 }, 'rate_per_second'],
    [{ event_type: [] }, 'event_type'],
    [{ event_type: ['batch.*'] }, 'event_type[0]'],
    [{ error: ['unknown'] }, 'error[0]'],
    [{ status_code: ['500'] }, 'status_code[0]'],
    [{ dry_run: 'yes' }, 'dry_run'],
  ])('400 for %j', async (body, param) => {
    expect((await replay(body).expect(400)).body.error).toMatchObject({ code: 'validation_failed', param });
  });
});

describe('POST /v1/webhooks/{id}/replay of skipped events', () => {
  it('202, and each event that matches now and has no delivery gets one, once', async () => {
    const other = await skip(2);
    const delivered = await insert({ status: 'pending' });
    await deliver(delivered.id);
    const bodies = await Promise.all([0, 1].map(() => replay({ status: ['skipped'] }).expect(202)));
    expect(bodies.map(({ body }) => body.matched).sort()).toEqual([0, 2]);
    const rows = await deliveriesOf(other);
    expect(rows).toHaveLength(2);
    for (const row of rows) {
      expect(row).toMatchObject({ status: 'pending', manual: true, max_attempts: 10, attempt_count: 0, round: 0 });
    }
    expect((await rowOf(delivered.id)).round).toBe(0);
    expect(await countInvariantViolations(api.db, 1_000)).toBe(0);
  });

  it('202 without tests, erased events, events past retention, events that wait for fan-out, and older events', async () => {
    const [test = '', erased = '', bodyless = '', parked = ''] = await skip(4);
    await sql`update events set test = true where id = ${test}`.execute(api.db);
    await sql`update events set erased_at = now() where id = ${erased}`.execute(api.db);
    await sql`delete from event_bodies where event_id = ${bodyless}`.execute(api.db);
    await sql`insert into parked_events (event_id, organization_id, created_at, reason, failures, retry_at)
      select id, organization_id, created_at, 'test', 1, now() from events where id = ${parked}`.execute(api.db);
    const [waiting] = await insertEvents(api.db, [testEvent(organizationId)]);
    const [older = ''] = await skip(1);
    await sql`update events set created_at = (select created_at from webhooks
      where id = ${fromPublicId('whk', webhookId)}) - interval '1 microsecond' where id = ${older}`.execute(api.db);
    expect((await replay({ status: ['skipped'] }).expect(202)).body.matched).toBe(0);
    expect(await deliveriesOf([test, erased, bodyless, parked, waiting?.id ?? '', older])).toEqual([]);
  });

  it('202 without types that the webhook does not match now, and without what the filters leave out', async () => {
    await api
      .call('patch', `/v1/webhooks/${webhookId}`, key)
      .send({ events: ['batch.*'] })
      .expect(200);
    const [batch] = await skip(1, { type: 'batch.failed' });
    await skip(1, { type: 'consultation.failed' });
    const matched = async (filter: object) =>
      (await replay({ dry_run: true, status: ['skipped'], ...filter }).expect(200)).body.matched;
    expect(await matched({})).toBe(1);
    expect(await matched({ event_type: ['batch.completed', 'consultation.failed'] })).toBe(0);
    expect(await matched({ error: ['timeout'] })).toBe(0);
    expect(await matched({ status_code: [500] })).toBe(0);
    expect(await matched({ until: '2026-01-02T00:00:00Z' })).toBe(0);
    expect(await matched({ since: new Date(Date.now() + 60_000).toISOString() })).toBe(0);
    await replay({ status: ['skipped'] }).expect(202);
    expect(await deliveriesOf([batch ?? ''])).toHaveLength(1);
  });
});

describe('POST /v1/webhooks/{id}/replay of pending deliveries', () => {
  const status = ['pending'];
  const inAnHour = new Date(Date.now() + 3_600_000);
  /** A delivery whose first attempt failed: it waits for the second. */
  const waitFor = async (fields: object = {}, dueAt = inAnHour) => {
    const { id } = await insert();
    await fail(id, 'pending');
    await update(id, { last_status_code: 503, ...fields });
    await updatePending(id, { next_attempt_at: dueAt });
    return id;
  };
  const dueAt = async (id: string) => (await rowOf(id)).next_attempt_at?.getTime() ?? Number.NaN;

  it('202, and what waits for its schedule is due now: same round, same attempts, once', async () => {
    const id = await waitFor();
    const before = await rowOf(id);
    expect((await replay({ status, dry_run: true }).expect(200)).body).toMatchObject({
      matched: 1,
      by_status: { pending: 1 },
    });
    expect(await dueAt(id)).toBe(inAnHour.getTime());
    const bodies = await Promise.all([0, 1].map(() => replay({ status }).expect(202)));
    expect(bodies.map(({ body }) => body.matched).sort()).toEqual([0, 1]);
    expect(await dueAt(id)).toBeLessThanOrEqual(Date.now());
    const due = { next_attempt_at: expect.any(Date) };
    expect(await rowOf(id)).toEqual({ ...before, ...due });
    expect(await countInvariantViolations(api.db, 1_000)).toBe(0);
  });

  it('202 without leased and due deliveries, tests, other webhooks, and deliveries attempted after the call', async () => {
    const leased = await waitFor();
    await updatePending(leased, { next_attempt_at: inAnHour, lease_count: 1 });
    const due = await waitFor({}, new Date(Date.now() - 60_000));
    const test = await insert({ test: true });
    await updatePending(test.id, { next_attempt_at: inAnHour });
    const attempted = await waitFor();
    await sql`update attempts set recorded_at = now() + interval '1 minute' where delivery_id = ${uuidOf(attempted)}`.execute(
      api.db,
    );
    const before = await Promise.all([leased, due, test.id, attempted].map(dueAt));
    const waits = await waitFor();
    const other = await api.createWebhook(key);
    expect((await replay({ status }, other.id).expect(202)).body).toMatchObject({ matched: 0, state: 'running' });
    expect(await dueAt(waits)).toBe(inAnHour.getTime());
    expect((await replay({ status }).expect(202)).body.matched).toBe(1);
    expect(await Promise.all([leased, due, test.id, attempted].map(dueAt))).toEqual(before);
  });

  it('202 with the filters, and with failed deliveries; a rate delays no delivery beyond its schedule', async () => {
    await waitFor({ last_status_code: 500 });
    const scheduled = new Date(Date.now() + 60_000);
    const soon = await waitFor({}, scheduled);
    const later = await waitFor();
    const failed = await Promise.all(Array.from({ length: 90 }, () => insert({ status: 'failed' })));
    for (const { id } of failed) await update(id, { last_status_code: 503 });
    const body = { status: ['failed', 'pending'], status_code: [503], rate_per_second: 1 };
    expect((await replay(body).expect(202)).body).toMatchObject({ matched: 92, pending: 92, has_more: false });
    const times = (await Promise.all(failed.map(({ id }) => dueAt(id)))).toSorted((a, b) => a - b);
    const [at = 0] = times;
    expect(times).toEqual(failed.map((_, nth) => at + nth * 1_000));
    expect(await dueAt(soon)).toBe(scheduled.getTime());
    expect(await dueAt(later)).toBe(at + 91_000);
    expect(await countInvariantViolations(api.db, 1_000)).toBe(0);
  });

  it('is completed with what became of them; canceled, it leaves them to their schedule', async () => {
    const [first, second, leased, attempted] = [await waitFor(), await waitFor(), await waitFor(), await waitFor()];
    const { body } = await replay({ status }).expect(202);
    await deliver(first, 2);
    const [leaseEnd, inTwoHours] = [new Date(Date.now() + 45_000), new Date(inAnHour.getTime() + 3_600_000)];
    await updatePending(leased, { next_attempt_at: leaseEnd, lease_count: 1 });
    await fail(attempted, 'pending');
    await updatePending(attempted, { next_attempt_at: inTwoHours });
    expect(await count(body.id)).toMatchObject({ pending: 3, succeeded: 1, failed: 0, canceled: 0 });
    const canceled = { state: 'canceled', matched: 4, pending: 0, succeeded: 1, failed: 0, canceled: 3 };
    expect((await cancel(body.id).expect(200)).body).toMatchObject(canceled);
    expect(await Promise.all([second, leased, attempted].map(dueAt))).toEqual(
      [inAnHour, leaseEnd, inTwoHours].map(Number),
    );
    for (const id of [second, leased]) expect(await shown(id)).toMatchObject({ status: 'pending', attempt_count: 1 });
    expect(await shown(attempted)).toMatchObject({ status: 'pending', attempt_count: 2 });
    const again = (await replay({ status }).expect(202)).body;
    expect(again.matched).toBe(2);
    await deliver(attempted, 3);
    await fail(second, 'failed');
    expect(await count(again.id)).toMatchObject({ state: 'completed', succeeded: 1, failed: 1, canceled: 0 });
    expect(await countInvariantViolations(api.db, 1_000)).toBe(0);
  });

  it('canceled, it delays no delivery that a later replay sends sooner', async () => {
    const ids: string[] = [];
    for (let nth = 0; nth < 60; nth++) ids.push(await waitFor());
    const last = ids.toSorted().at(-1) ?? '';
    const slow = (await replay({ status, rate_per_second: 1 }).expect(202)).body;
    const fast = (await replay({ status }).expect(202)).body;
    const soon = await dueAt(last);
    expect(soon).toBeLessThanOrEqual(Date.now());
    await cancel(slow.id).expect(200);
    expect(await dueAt(last)).toBe(soon);
    await cancel(fast.id).expect(200);
    expect(await dueAt(last)).toBeGreaterThan(Date.now());
  });

  it.each([
    ['the first, the second, the third', [[0], [1], [2]]],
    ['the first, the third, the second', [[0], [2], [1]]],
    ['the third, the first, the second', [[2], [0], [1]]],
    ['the second, the first, the third', [[1], [0], [2]]],
    ['all at once', [[2, 1, 0]]],
  ])('canceled with others (%s), it restores the earlier due times', async (_name, order) => {
    const ids: string[] = [];
    for (let count = 0; count < 60; count++) ids.push(await waitFor());
    const last = ids.toSorted().at(-1) ?? '';
    const [replays, due]: [string[], number[]] = [[], [await dueAt(last)]];
    for (const rate_per_second of [1, 2, null]) {
      replays.push((await replay({ status, rate_per_second }).expect(202)).body.id);
      due.push(await dueAt(last));
    }
    expect(due).toEqual(due.toSorted((one, other) => other - one));
    let running = [0, 1, 2];
    for (const canceled of order) {
      await Promise.all(canceled.map((nth) => cancel(replays[nth] ?? '').expect(200)));
      running = running.filter((nth) => !canceled.includes(nth));
      expect(await dueAt(last)).toBe(due[(running.at(-1) ?? -1) + 1]);
    }
    expect(await countInvariantViolations(api.db, 1_000)).toBe(0);
  });

  it('canceled, it delays no delivery that was retried since', async () => {
    const [retried] = [await waitFor(), await waitFor()];
    const { body } = await replay({ status }).expect(202);
    await fail(retried, 'failed');
    await api.call('post', `/v1/webhooks/deliveries/${retried}/retry`, key).expect(202);
    expect((await cancel(body.id).expect(200)).body).toMatchObject({ matched: 2, failed: 1, canceled: 1 });
    expect(await dueAt(retried)).toBeLessThanOrEqual(Date.now());
    expect(await countInvariantViolations(api.db, 1_000)).toBe(0);
  });

  it('canceled, it leaves a delivery that it tried to the schedule of that attempt, also if that is earlier', async () => {
    const [tried, waits] = [await waitFor(), await waitFor()];
    const { body } = await replay({ status }).expect(202);
    const retryAt = new Date(inAnHour.getTime() - 3_000_000);
    await fail(tried, 'pending');
    await updatePending(tried, { next_attempt_at: retryAt });
    await cancel(body.id).expect(200);
    expect(await Promise.all([tried, waits].map(dueAt))).toEqual([retryAt, inAnHour].map(Number));
    expect(await countInvariantViolations(api.db, 1_000)).toBe(0);
  });

  it('202 next to a request that disables the webhook: neither waits for the other forever', async () => {
    for (let nth = 0; nth < 20; nth++) await waitFor();
    const [{ status: answered }] = await Promise.all([replay({ status }), disable()]);
    expect([202, 409]).toContain(answered);
    expect(await pending()).toEqual([]);
  });
});

describe('POST /v1/webhooks/{id}/replay as a dry run', () => {
  it('200 with what would be sent, and sends nothing', async () => {
    const failed = [await insert({ status: 'failed' }), await insert({ status: 'failed' })];
    const canceled = await insert({ status: 'canceled', event_type: 'consultation.failed' });
    await deliver((await insert({ status: 'pending' })).id);
    const [skipped = ''] = await skip(1, { type: 'batch.failed' });
    const status = ['failed', 'canceled', 'skipped'];
    const { body } = await replay({ status, dry_run: true, rate_per_second: 3 }).expect(200);
    expect(body).toEqual({
      object: 'replay_preview',
      matched: 4,
      has_more: false,
      by_status: { failed: 2, canceled: 1, skipped: 1 },
      by_event_type: { 'batch.completed': 2, 'consultation.failed': 1, 'batch.failed': 1 },
      sample: expect.any(Array),
      estimated_seconds: 2,
    });
    const events = [...failed.map(({ eventId }) => eventId), canceled.eventId, toPublicId('evt', skipped)];
    expect(body.sample.toSorted()).toEqual(events.toSorted());
    expect((await replay({ dry_run: true }).expect(200)).body.estimated_seconds).toBeNull();
    expect((await rowOf(canceled.id)).status).toBe('canceled');
    expect(await pending()).toEqual([]);
    expect((await api.call('get', '/v1/webhooks/replays', key)).body.data).toEqual([]);
  });

  it('403 without webhooks:write; 409 for a disabled webhook', async () => {
    const reader = await api.createKey({ organizationId, scopes: ['webhooks:read'] });
    await api
      .call('post', `/v1/webhooks/${webhookId}/replay`, reader.secret)
      .send({ since, dry_run: true })
      .expect(403);
    await disable();
    await replay({ dry_run: true }).expect(409);
  });
});

describe('GET /v1/webhooks/replays', () => {
  it('200 with the replays of the organization, newest first, also of one webhook', async () => {
    const other = await api.createWebhook(key);
    const ids = [];
    for (const webhook of [webhookId, other.id, webhookId])
      ids.unshift((await replay({}, webhook).expect(202)).body.id);
    const list = async (query: string) =>
      (await api.call('get', `/v1/webhooks/replays?${query}`, key).expect(200)).body;
    expect((await list('')).data.map(({ id }: { id: string }) => id)).toEqual(ids);
    const page = await list(`webhook_id=${webhookId}&limit=1`);
    expect(page).toMatchObject({ object: 'list', data: [{ id: ids[0] }], has_more: true });
    const next = await list(`webhook_id=${webhookId}&limit=1&cursor=${page.next_cursor}`);
    expect(next).toMatchObject({ data: [{ id: ids[2] }], has_more: false, next_cursor: null });
    expect(await get(ids[0] ?? '')).toEqual(page.data[0]);
  });

  it('404 for a replay of another organization, also to cancel it', async () => {
    const { id } = (await replay().expect(202)).body;
    const stranger = await api.createKey();
    await api.call('get', `/v1/webhooks/replays/${id}`, stranger.secret).expect(404);
    await api.call('post', `/v1/webhooks/replays/${id}/cancel`, stranger.secret).expect(404);
    expect((await get(id)).state).toBe('running');
  });
});

describe('POST /v1/webhooks/replays/{id}/cancel', () => {
  const status = ['failed', 'canceled', 'succeeded', 'skipped'];

  it('200, twice: what waits becomes canceled, and what was succeeded is succeeded again, as it was', async () => {
    const failed = await insert({ status: 'failed' });
    const first = await insert({ status: 'pending' });
    await deliver(first.id);
    const later = await insert({ status: 'pending' });
    await fail(later.id, 'pending');
    await deliver(later.id, 2);
    const [event = ''] = await skip(1);
    const before = [await shown(first.id), await shown(later.id)];
    const { id } = (await replay({ status }).expect(202)).body;
    expect((await shown(first.id)).status).toBe('pending');
    const { body } = await cancel(id).expect(200);
    expect(body).toMatchObject({
      id,
      state: 'canceled',
      matched: 4,
      pending: 0,
      succeeded: 0,
      canceled: 4,
      completed_at: expect.any(String),
    });
    expect([await shown(first.id), await shown(later.id)]).toEqual(before);
    const canceled = { status: 'canceled', canceled_reason: 'replay_canceled' };
    expect(await shown(failed.id)).toMatchObject({ ...canceled, completed_at: expect.any(String) });
    expect(await deliveriesOf([event])).toMatchObject([canceled]);
    expect((await cancel(id).expect(200)).body).toEqual(body);
    expect(await get(id)).toEqual(body);
    expect(await countInvariantViolations(api.db, 1_000)).toBe(0);
    const actions = await api.db
      .selectFrom('audit_log')
      .select('action')
      .where('object_id', '=', fromPublicId('rpl', id) as string)
      .execute();
    expect(actions).toEqual([{ action: 'replay.canceled' }]);
  });

  it('200 after failed attempts of the replay: the success is restored, the attempts stay, and it can be sent again', async () => {
    const { id } = await insert({ status: 'pending' });
    await deliver(id);
    const { id: first } = (await replay({ status }).expect(202)).body;
    await fail(id, 'pending');
    await cancel(first).expect(200);
    const delivery = await shown(id);
    const success = { status: 'succeeded', max_attempts: 10, last_status_code: 204, last_error: null };
    expect(delivery).toMatchObject({ ...success, attempt_count: 2 });
    expect(delivery.attempts.map(({ number }: { number: number }) => number).sort()).toEqual([1, 2]);
    expect(await countInvariantViolations(api.db, 1_000)).toBe(0);
    const { id: second } = (await replay({ status }).expect(202)).body;
    expect(await shown(id)).toMatchObject({ status: 'pending', max_attempts: 12 });
    await fail(id, 'pending');
    await cancel(second).expect(200);
    expect(await shown(id)).toMatchObject({ status: 'succeeded', attempt_count: 3, max_attempts: 10 });
    const { id: third } = (await replay({ status }).expect(202)).body;
    await cancel(third).expect(200);
    expect(await shown(id)).toMatchObject({ status: 'succeeded', max_attempts: 10 });
    expect(await countInvariantViolations(api.db, 1_000)).toBe(0);
  });

  it('200 for a completed replay, which stays completed', async () => {
    const { id } = (await replay().expect(202)).body;
    await count(id);
    expect((await cancel(id).expect(200)).body).toMatchObject({ id, state: 'completed', matched: 0 });
  });

  it('200 without what was retried or replayed again since', async () => {
    const [retried, replayed, waits] = [
      await insert({ status: 'failed' }),
      await insert({ status: 'failed' }),
      await insert({ status: 'failed' }),
    ];
    const { id } = (await replay().expect(202)).body;
    await fail(retried.id, 'failed');
    await deliver(replayed.id);
    await api.call('post', `/v1/webhooks/deliveries/${retried.id}/retry`, key).expect(202);
    const other = (await replay({ status: ['succeeded'] }).expect(202)).body;
    expect(await count(id)).toMatchObject({ state: 'running', pending: 1, succeeded: 1, failed: 1, canceled: 0 });
    const { body } = await cancel(id).expect(200);
    expect(body).toMatchObject({ state: 'canceled', pending: 0, succeeded: 1, failed: 1, canceled: 1 });
    expect((await shown(retried.id)).status).toBe('pending');
    expect((await shown(replayed.id)).status).toBe('pending');
    expect(await shown(waits.id)).toMatchObject({ status: 'canceled', canceled_reason: 'replay_canceled' });
    expect(await get(other.id)).toMatchObject({ state: 'running', pending: 1 });
    expect(await countInvariantViolations(api.db, 1_000)).toBe(0);
  });
});

describe('a replay', () => {
  it('is completed once nothing of it is pending, with what became of its deliveries', async () => {
    const ids = [];
    for (let nth = 0; nth < 4; nth++) ids.push((await insert({ status: 'failed' })).id);
    const [one = '', two = '', three = '', four = ''] = ids;
    const { body } = await replay({ rate_per_second: 1_000 }).expect(202);
    expect(body).toEqual({
      id: expect.stringMatching(/^rpl_/),
      object: 'replay',
      webhook_id: webhookId,
      state: 'running',
      matched: 4,
      has_more: false,
      pending: 4,
      succeeded: 0,
      failed: 0,
      canceled: 0,
      rate_per_second: 1_000,
      created_at: expect.any(String),
      completed_at: null,
    });
    await deliver(one);
    await fail(two, 'failed');
    await update(three, { status: 'canceled', canceled_reason: 'erased', completed_at: new Date() });
    await count(body.id);
    const counted = { matched: 4, succeeded: 1, failed: 1, canceled: 1 };
    expect(await get(body.id)).toMatchObject({ ...counted, state: 'running', pending: 1, completed_at: null });
    await disable();
    await count(body.id);
    const ended = await get(body.id);
    expect(ended).toMatchObject({ ...counted, state: 'completed', pending: 0, canceled: 2 });
    expect(ended.completed_at).not.toBeNull();
    expect((await shown(four)).canceled_reason).toBe('webhook_disabled');
    const row = await api.db
      .selectFrom('replays')
      .selectAll()
      .where('id', '=', fromPublicId('rpl', body.id) as string)
      .executeTakeFirstOrThrow();
    expect([row.delivery_ids, row.rounds, row.due_times]).toEqual([null, null, null]);
  });
});

describe('POST /v1/webhooks/{id}/replay of more than it takes', () => {
  it('202 with has_more if an erasure meanwhile takes one of the 100,000 skipped events that it chose', async () => {
    const [first] = await skip(1);
    // With this one, there are two more than a replay takes.
    await sql`
      with made as materialized (
        select (left(${first}, 24) || lpad(to_hex(nth), 12, '0'))::uuid as id from generate_series(1, 100001) nth
      ), bodies as (insert into event_bodies select id, '{}' from made)
      insert into events (id, organization_id, type)
      select m.id, e.organization_id, e.type from made m cross join events e where e.id = ${first}`.execute(api.db);
    const erasing = await api.db.startTransaction().execute();
    await sql`delete from event_bodies where event_id in (select event_id from event_bodies
      where left(event_id::text, 24) = left(${first}, 24) order by event_id limit 1)`.execute(erasing);
    const answer = Promise.resolve(replay({ status: ['skipped'] }).expect(202));
    await untilLockWait(api.db);
    await erasing.commit().execute();
    expect((await answer).body).toMatchObject({ matched: 99_999, has_more: true });
    expect((await replay({ status: ['skipped'] }).expect(202)).body).toMatchObject({ matched: 2, has_more: false });
  });

  it.each([{}, { dry_run: true }, { 'Idempotency-Key': newUuid() }])(
    '400 that asks for a shorter period if PostgreSQL ends a statement: %j',
    async ({ 'Idempotency-Key': name, ...body }: { 'Idempotency-Key'?: string; dry_run?: boolean }) => {
      const locking = await api.db.startTransaction().execute();
      await sql`lock table events in access exclusive mode`.execute(locking);
      const request = replay({ status: ['skipped'], ...body });
      const answer = Promise.resolve((name === undefined ? request : request.set('Idempotency-Key', name)).expect(400));
      await untilLockWait(api.db);
      // As `statement_timeout` does after 30 s.
      await sql`select pg_cancel_backend(pid) from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`.execute(api.db);
      expect((await answer).body.error).toMatchObject({ code: 'validation_failed', param: 'since' });
      await locking.rollback().execute();
      const again = await replay({ status: ['skipped'], ...body }).expect(body.dry_run ? 200 : 202);
      expect(again.body.matched).toBe(0);
    },
  );
});
