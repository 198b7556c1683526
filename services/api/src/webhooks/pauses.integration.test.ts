import { fromPublicId } from '@enterprise-api/shared/runtime';
import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import type { TestApi } from '../testing/test-api.ts';
import { withWebhook } from '../testing/webhook-frame.ts';

let api: TestApi;
let key: string;
let webhookId: string;
const { insert, disable, remove } = withWebhook((customer) => {
  ({ api, key, webhookId } = customer);
});

const hourMs = 3_600_000;
const ahead = (ms: number) => new Date(Date.now() + ms).toISOString();
const post = (what: 'pause' | 'resume', body?: object) => {
  const call = api.call('post', `/v1/webhooks/${webhookId}/${what}`, key);
  return body === undefined ? call : call.send(body);
};
const shown = async () => (await api.call('get', `/v1/webhooks/${webhookId}`, key).expect(200)).body;
const uuid = () => fromPublicId('whk', webhookId) as string;
const audited = async (action: string) =>
  (await api.internal('get', `/internal/v1/audit?object_id=${webhookId}&action=${action}`).expect(200)).body.data;
const controls = () =>
  api.db.selectFrom('webhook_controls').selectAll().where('webhook_id', '=', uuid()).executeTakeFirst();
const change = (assignments: ReturnType<typeof sql>, table = 'webhook_controls') =>
  sql`update ${sql.table(table)} set ${assignments} where webhook_id = ${uuid()}`.execute(api.db);
const failingFor = (days: number) =>
  sql`insert into webhook_health (webhook_id, failed_attempts, first_failure_at)
    values (${uuid()}, 20, date_trunc('milliseconds', now()) - make_interval(days => ${days}::int))`.execute(api.db);
const daysToDisabling = async () => {
  const { failing_since, disable_at } = await shown();
  return Math.round(((Date.parse(disable_at) - Date.parse(failing_since)) / 24 / hourMs) * 1_000) / 1_000;
};

describe('POST /v1/webhooks/{id}/pause', () => {
  it('200 with the pause, for a day unless told otherwise', async () => {
    const { body, headers } = await post('pause').expect(200);
    expect(body.paused).toMatchObject({ since: expect.any(String), reason: null });
    expect(Math.abs(Date.parse(body.paused.resume_at) - Date.now() - 24 * hourMs)).toBeLessThan(60_000);
    expect(body).toMatchObject({ id: webhookId, enabled: true });
    const answer = await api.call('get', `/v1/webhooks/${webhookId}`, key).expect(200);
    expect([answer.body, answer.headers.etag]).toEqual([body, headers.etag]);
  });

  it('200 again: the second pause keeps the time since when, and says how long and why', async () => {
    const { body: first } = await post('pause', { reason: 'release' }).expect(200);
    const resume_at = ahead(6 * 24 * hourMs);
    const { body } = await post('pause', { resume_at }).expect(200);
    expect(body.paused).toEqual({ since: first.paused.since, resume_at, reason: null });
    expect(await audited('webhook.paused')).toHaveLength(2);
    const [newest, oldest] = await audited('webhook.paused');
    expect(oldest.changes).toMatchObject({ paused: { from: false, to: true }, reason: { from: null, to: 'release' } });
    expect(newest.changed_fields).toEqual(['resume_at', 'reason']);
  });

  it('is over at its end without a write, and a new one begins then', async () => {
    await post('pause').expect(200);
    await change(sql`paused_since = now() - interval '2 days', resume_at = now() - interval '1 day'`);
    const before = await api.call('get', `/v1/webhooks/${webhookId}`, key).expect(200);
    expect(before.body.paused).toBeNull();
    const { body } = await post('pause').expect(200);
    expect(Date.now() - Date.parse(body.paused.since)).toBeLessThan(60_000);
  });

  it('the ETag changes with its end', async () => {
    const { headers } = await post('pause').expect(200);
    await change(sql`paused_since = now() - interval '2 days', resume_at = now() - interval '1 day'`);
    const { headers: later } = await api.call('get', `/v1/webhooks/${webhookId}`, key).expect(200);
    expect(later.etag).not.toBe(headers.etag);
  });

  it('writes one row, however many deliveries wait', async () => {
    await insert();
    const { rows } = await sql`select delivery_id, xmin::text, ctid::text from pending_deliveries`.execute(api.db);
    await post('pause').expect(200);
    await post('resume', { rate_per_second: 5 }).expect(200);
    expect(
      (await sql`select delivery_id, xmin::text, ctid::text from pending_deliveries`.execute(api.db)).rows,
    ).toEqual(rows);
  });

  it.each<[string, object]>([
    ['a time that is past', { resume_at: '2026-01-01T00:00:00Z' }],
    ['more than 7 days', { resume_at: ahead(8 * 24 * hourMs) }],
    ['no time', { resume_at: 'soon' }],
    ['a long reason', { reason: 'x'.repeat(201) }],
    ['an unknown field', { until: ahead(hourMs) }],
  ])('400 for %s', async (_, body) => {
    expect((await post('pause', body).expect(400)).body.error.code).toBe('validation_failed');
    expect(await shown()).toMatchObject({ paused: null });
  });

  it('403 with a key that may only read', async () => {
    const { secret } = await api.createKey({ scopes: ['webhooks:read'] });
    await api.call('post', `/v1/webhooks/${webhookId}/pause`, secret).expect(403);
  });

  it('404 for a deleted webhook', async () => {
    await remove();
    await post('pause').expect(404);
    await post('resume').expect(404);
  });

  it('409 for a disabled webhook; disabling ends the pause', async () => {
    await post('pause').expect(200);
    await disable();
    expect(await shown()).toMatchObject({ enabled: false, paused: null });
    expect((await post('pause').expect(409)).body.error.code).toBe('conflict');
    expect((await post('resume').expect(409)).body.error.code).toBe('conflict');
    await api.call('patch', `/v1/webhooks/${webhookId}`, key).send({ enabled: true }).expect(200);
    expect(await shown()).toMatchObject({ enabled: true, paused: null });
  });
});

it('a delivery that is sent again while its webhook is paused says so', async () => {
  await post('pause').expect(200);
  const { id } = await insert({ status: 'failed' });
  const { body } = await api.call('post', `/v1/webhooks/deliveries/${id}/retry`, key).expect(202);
  expect(body.waiting_for).toBe('paused');
});

describe('POST /v1/webhooks/{id}/resume', () => {
  it('200 without a pause, and again', async () => {
    await post('resume').expect(200);
    await post('pause').expect(200);
    expect((await post('resume').expect(200)).body.paused).toBeNull();
    expect((await post('resume').expect(200)).body.paused).toBeNull();
    const [, resumed] = await audited('webhook.resumed');
    expect(resumed.changes).toMatchObject({ paused: { from: true, to: false } });
  });

  it('200 with a rate for what waited, until the next pause', async () => {
    await post('pause').expect(200);
    await post('resume', { rate_per_second: 7 }).expect(200);
    expect(await controls()).toMatchObject({ release_per_second: 7, released_at: expect.any(Date) });
    await post('pause').expect(200);
    expect(await controls()).toMatchObject({ release_per_second: null });
  });

  it.each([{ rate_per_second: 0 }, { rate_per_second: 1_001 }, { rate_per_second: 1.5 }])(
    '400 for %j',
    async (body) => {
      await post('resume', body).expect(400);
    },
  );

  it('`disable_at` moves by the length of the pause', async () => {
    await failingFor(1);
    expect(await daysToDisabling()).toBe(5);
    const { body } = await post('pause', { resume_at: ahead(48 * hourMs) }).expect(200);
    const lengthMs = Date.parse(body.paused.resume_at) - Date.parse(body.paused.since);
    expect(await daysToDisabling()).toBeCloseTo(5 + lengthMs / 24 / hourMs, 2);
    // Resumed after half a day, and then paused for a quarter of a day, until the pause ended by itself.
    await change(sql`paused_since = now() - interval '12 hours'`);
    await post('resume').expect(200);
    expect(await daysToDisabling()).toBeCloseTo(5.5, 2);
    await post('pause').expect(200);
    await change(sql`paused_since = now() - interval '8 hours', resume_at = now() - interval '2 hours'`);
    expect(await daysToDisabling()).toBeCloseTo(5.75, 2);
    await post('pause', { resume_at: ahead(hourMs) }).expect(200);
    await post('resume').expect(200);
    expect(await daysToDisabling()).toBeCloseTo(5.75, 2);
  });

  it('the part of a pause before the first failure does not count', async () => {
    await failingFor(1);
    await post('pause', { resume_at: ahead(hourMs) }).expect(200);
    await change(sql`paused_since = now() - interval '3 days'`);
    await post('resume').expect(200);
    expect(await daysToDisabling()).toBeCloseTo(6, 2);
  });
});

describe('limits of a webhook', () => {
  const patch = (body: object) => api.call('patch', `/v1/webhooks/${webhookId}`, key).send(body);

  it('are null unless set, at creation or later, and are audited', async () => {
    expect(await shown()).toMatchObject({ rate_limit_per_second: null, max_in_flight: null });
    const limits = { rate_limit_per_second: 1_000, max_in_flight: 50 };
    expect((await patch(limits).expect(200)).body).toMatchObject(limits);
    expect((await patch({ max_in_flight: null }).expect(200)).body).toMatchObject({ ...limits, max_in_flight: null });
    const [{ changes }] = await audited('webhook.updated');
    expect(changes).toEqual({ max_in_flight: { from: 50, to: null } });
    const created = await api.createWebhook(key, { rate_limit_per_second: 2, max_in_flight: 1 });
    expect(created).toMatchObject({ rate_limit_per_second: 2, max_in_flight: 1 });
  });

  it.each([
    { rate_limit_per_second: 0 },
    { rate_limit_per_second: 1_001 },
    { max_in_flight: 0 },
    { max_in_flight: 51 },
    { max_in_flight: '5' },
  ])('400 for %j', async (body) => {
    await patch(body).expect(400);
  });
});
