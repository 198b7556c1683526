import {
  attemptHints,
  statusHints,
  type WebhookHealth,
  webhookHealthSchema,
  webhookHealthSummarySchema,
} from '@enterprise-api/shared/contracts';
import { fromPublicId, newUuid, toPublicId, type Uuid } from '@enterprise-api/shared/runtime';
import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { recordAttempts } from '../testing/recorded-attempts.ts';
import { insertDelivery } from '../testing/rows.ts';
import { type TestApi, withCustomer } from '../testing/test-api.ts';

let api: TestApi;
let key: string;
let organizationId: string;
withCustomer((customer) => {
  ({ api, key, organizationId } = customer);
});

const uuidOf = (webhook: string) => fromPublicId('whk', webhook) as Uuid;
const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000);

async function health(webhook: string): Promise<WebhookHealth> {
  return webhookHealthSchema.parse((await api.call('get', `/v1/webhooks/${webhook}/health`, key).expect(200)).body);
}

async function succeed(webhook: string, count: number, at = minutesAgo(2)): Promise<void> {
  const attempt = { webhookId: uuidOf(webhook), at, durationMs: 5 };
  await recordAttempts(
    api.db,
    Array.from({ length: count }, () => attempt),
  );
}

async function fail(webhook: string, count: number, at = minutesAgo(1)): Promise<void> {
  const attempt = { webhookId: uuidOf(webhook), at, durationMs: 5, error: 'http_error', statusCode: 500 } as const;
  await recordAttempts(
    api.db,
    Array.from({ length: count }, () => attempt),
  );
}

/** The row of a webhook that fails, as workers write it. */
async function setHealth(webhook: string, failedAttempts: number, open: string | null, openings = 0): Promise<void> {
  await sql`insert into webhook_health (webhook_id, failed_attempts, first_failure_at, open_until, openings)
    values (${uuidOf(webhook)}, ${failedAttempts}, ${failedAttempts > 0 ? minutesAgo(30) : null},
      now() + ${open}::interval, ${openings})`.execute(api.db);
}

describe('the state', () => {
  it('is idle without an attempt for 24 hours, and healthy with successes', async () => {
    const { id } = await api.createWebhook(key);
    await fail(id, 3, minutesAgo(25 * 60));
    expect(await health(id)).toMatchObject({ state: 'idle', since: null, causes: [] });
    const at = minutesAgo(23 * 60);
    await sql`insert into webhook_counts (webhook_id, level, start, event_type, error, status_code, buckets, counts,
      last_at) values (${uuidOf(id)}, 'day', date_trunc('day', ${at}::timestamptz, 'UTC'), 'batch.failed', '', 0, '{5,69}', '{1,1}',
      ${at})`.execute(api.db);
    expect(await health(id)).toMatchObject({
      object: 'webhook_health',
      webhook_id: id,
      state: 'healthy',
      since: null,
      failing_since: null,
      circuit: { state: 'closed', next_attempt_at: null },
      pending: 0,
      oldest_pending_at: null,
      oldest_waiting_for: null,
    });
  });

  it('is degraded once 5 % of the last hour failed, and no longer after an hour', async () => {
    const { id } = await api.createWebhook(key);
    await succeed(id, 39);
    await fail(id, 2, minutesAgo(61));
    await fail(id, 1);
    expect((await health(id)).state).toBe('healthy');
    await fail(id, 2);
    expect((await health(id)).state).toBe('degraded');
  });

  it('is degraded after a failure, failing after the third since the last success', async () => {
    const { id } = await api.createWebhook(key);
    await succeed(id, 100);
    await setHealth(id, 2, null);
    const degraded = await health(id);
    expect(degraded).toMatchObject({ state: 'degraded', since: null, failing_since: expect.any(String) });
    await sql`update webhook_health set failed_attempts = 3 where webhook_id = ${uuidOf(id)}`.execute(api.db);
    expect(await health(id)).toMatchObject({ state: 'failing', since: degraded.failing_since, disable_at: null });
    await sql`update webhook_health set failed_attempts = 20 where webhook_id = ${uuidOf(id)}`.execute(api.db);
    expect((await health(id)).disable_at).not.toBeNull();
  });

  it.each([
    ['open', '10 minutes', 0],
    ['open', '10 minutes', 2],
    ['half_open', '-1 second', 1],
    ['closed', '-1 second', 0],
  ])('shows a circuit that is %s', async (state, open, openings) => {
    const { id } = await api.createWebhook(key);
    await succeed(id, 100);
    await setHealth(id, 0, open, openings);
    const { circuit, state: shown } = await health(id);
    expect(circuit.state).toBe(state);
    expect(circuit.next_attempt_at !== null).toBe(state === 'open');
    expect(shown).toBe(state === 'closed' ? 'healthy' : 'degraded');
  });

  it('is paused since the pause began, before a failure, until it ends', async () => {
    const { id } = await api.createWebhook(key);
    await setHealth(id, 20, '10 minutes', 1);
    const { body } = await api.call('post', `/v1/webhooks/${id}/pause`, key).expect(200);
    const { since } = body.paused;
    expect(await health(id)).toMatchObject({ state: 'paused', since, failing_since: expect.any(String) });
    const list = await api.call('get', '/v1/webhooks/health', key).expect(200);
    expect(list.body.data).toMatchObject([{ state: 'paused', since }]);
    await sql`update webhook_controls set resume_at = now() where webhook_id = ${uuidOf(id)}`.execute(api.db);
    expect((await health(id)).state).toBe('failing');
  });

  it('is disabled since it was disabled, whatever changes later, and before everything else', async () => {
    const { id } = await api.createWebhook(key);
    await setHealth(id, 20, '10 minutes', 1);
    const before = Date.now();
    await api.call('patch', `/v1/webhooks/${id}`, key).send({ enabled: false }).expect(200);
    const { since, ...shown } = await health(id);
    expect(shown).toMatchObject({ state: 'disabled', failing_since: null, circuit: { state: 'closed' } });
    expect(Math.abs(Date.parse(since as string) - before)).toBeLessThan(60_000);
    await api.call('patch', `/v1/webhooks/${id}`, key).send({ description: 'later' }).expect(200);
    expect((await health(id)).since).toBe(since);
  });
});

describe('the causes', () => {
  it('are the five most frequent of 24 hours, with the newest delivery and what to do', async () => {
    const { id } = await api.createWebhook(key);
    const webhookId = uuidOf(id);
    const newest = newUuid();
    const at = minutesAgo(3);
    const http = (statusCode: number, count: number) =>
      Array.from(
        { length: count },
        () => ({ webhookId, at: minutesAgo(9), durationMs: 5, lagMs: 7, error: 'http_error', statusCode }) as const,
      );
    await recordAttempts(api.db, [
      ...http(401, 6),
      ...http(404, 5),
      ...http(503, 4),
      ...http(500, 3),
      ...http(418, 1),
      { webhookId, at: minutesAgo(5), durationMs: 5, error: 'timeout' },
      { webhookId, at, durationMs: 5, error: 'timeout', deliveryId: newest },
      { webhookId, at: minutesAgo(25 * 60), durationMs: 5, error: 'dns_failed' },
    ]);
    const { causes, last_failure_at, last_success_at } = await health(id);
    expect(causes.map(({ error, status_code, count }) => [error, status_code, count])).toEqual([
      ['http_error', 401, 6],
      ['http_error', 404, 5],
      ['http_error', 503, 4],
      ['http_error', 500, 3],
      ['timeout', null, 2],
    ]);
    expect(causes[0]?.hint).toBe(statusHints[401]);
    expect(causes[4]).toMatchObject({
      last_at: at.toISOString(),
      delivery_id: toPublicId('dlv', newest),
      hint: attemptHints.timeout,
    });
    expect([last_failure_at, last_success_at]).toEqual([at.toISOString(), null]);
  });
});

describe('the pending deliveries', () => {
  it('are counted, with the age of the oldest and what it waits for', async () => {
    const { id } = await api.createWebhook(key);
    const place = { organizationId, webhookId: id };
    const oldest = minutesAgo(20);
    await insertDelivery(api.db, place, { created_at: minutesAgo(10) });
    await insertDelivery(api.db, place, { created_at: oldest });
    await insertDelivery(api.db, place, { status: 'failed' });
    const { pending, oldest_pending_at, oldest_waiting_for } = await health(id);
    expect([pending, oldest_pending_at, oldest_waiting_for]).toEqual([2, oldest.toISOString(), 'capacity']);
  });

  it('are counted up to 10,000; the oldest is that of all', async () => {
    const { id } = await api.createWebhook(key);
    const { rows } = await sql<{ oldest: Date }>`
      with made as (
        insert into deliveries (id, organization_id, webhook_id, event_id, event_type, status, max_attempts, created_at)
        select overlay(gen_random_uuid()::text placing left(${newUuid()}, 13) from 1 for 13)::uuid,
          ${fromPublicId('org', organizationId)}::uuid, ${uuidOf(id)}, gen_random_uuid(), 'batch.failed', 'pending', 10,
          now() - make_interval(secs => n) from generate_series(1, 10001) n
        returning *
      ), queued as (
        insert into pending_deliveries (delivery_id, webhook_id, organization_id, event_id, event_type, next_attempt_at, max_attempts)
        select id, webhook_id, organization_id, event_id, event_type, now() + (now() - created_at), 10 from made
      )
      select min(created_at) as oldest from made`.execute(api.db);
    const { pending, oldest_pending_at } = await health(id);
    expect([pending, oldest_pending_at]).toEqual([10_000, rows[0]?.oldest.toISOString()]);
    for (const table of ['pending_deliveries', 'deliveries'] as const)
      await sql`delete from ${sql.table(table)} where webhook_id = ${uuidOf(id)}`.execute(api.db);
  });
});

describe('GET /v1/webhooks/health', () => {
  it('200 with all webhooks, the newest first, page by page, without causes', async () => {
    const { secret } = await api.createKey({});
    const ids = [];
    for (let count = 0; count < 3; count++) ids.unshift((await api.createWebhook(secret)).id);
    const first = (await api.call('get', '/v1/webhooks/health?limit=2', secret).expect(200)).body;
    expect(first).toMatchObject({ object: 'list', has_more: true });
    const rest = (await api.call('get', `/v1/webhooks/health?limit=2&cursor=${first.next_cursor}`, secret).expect(200))
      .body;
    const shown = [...first.data, ...rest.data];
    expect(shown.map(({ webhook_id }) => webhook_id)).toEqual(ids);
    for (const each of shown) expect(webhookHealthSummarySchema.parse(each).state).toBe('idle');
    expect(shown.every((each) => !('causes' in each))).toBe(true);
  });

  it('403 without webhooks:read', async () => {
    const { secret } = await api.createKey({ scopes: ['webhooks:write'] });
    const id = toPublicId('whk', newUuid());
    for (const path of ['health', `${id}/health`, 'statistics'])
      await api.call('get', `/v1/webhooks/${path}`, secret).expect(403);
  });

  it('404 for an unknown webhook, and for one of another organization', async () => {
    const { secret } = await api.createKey({});
    const { id } = await api.createWebhook(key);
    await api.call('get', `/v1/webhooks/${toPublicId('whk', newUuid())}/health`, key).expect(404);
    await api.call('get', `/v1/webhooks/${id}/health`, secret).expect(404);
  });
});
