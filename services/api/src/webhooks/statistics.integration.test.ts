import { type WebhookStatistics, webhookStatisticsSchema } from '@enterprise-api/shared/contracts';
import { fromPublicId, type Uuid } from '@enterprise-api/shared/runtime';
import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { type RecordedAttempt, recordAttempts } from '../testing/recorded-attempts.ts';
import { type TestApi, withCustomer } from '../testing/test-api.ts';

let api: TestApi;
let key: string;
withCustomer((customer) => {
  ({ api, key } = customer);
});

async function read(query = ''): Promise<WebhookStatistics> {
  return webhookStatisticsSchema.parse(
    (await api.call('get', `/v1/webhooks/statistics${query}`, key).expect(200)).body,
  );
}

const noTimes = { p50: null, p95: null, p99: null };
const nothing = { attempts: 0, succeeded: 0, failed: 0, duration_ms: noTimes, lag_ms: noTimes };
/** Three hours ago, on the hour. */
const begin = Math.floor(Date.now() / 3_600_000) * 3_600_000 - 3 * 3_600_000;
const minute = (count: number) => new Date(begin + count * 60_000);
const iso = (count: number) => minute(count).toISOString();

/** One organization a test: its webhooks, and attempts that no worker has counted. */
async function attempts(...recorded: Omit<RecordedAttempt, 'webhookId'>[]): Promise<string> {
  const { id } = await api.createWebhook(key);
  await recordAttempts(
    api.db,
    recorded.map((attempt) => ({ ...attempt, webhookId: fromPublicId('whk', id) as Uuid })),
  );
  return id;
}

describe('GET /v1/webhooks/statistics', () => {
  it('200 with the last 24 hours by hour, complete until now, when nothing is asked for', async () => {
    const before = Date.now();
    const statistics = await read();
    expect(statistics).toMatchObject({ object: 'webhook_statistics', granularity: 'hour', data: [], totals: nothing });
    const [since, until] = [Date.parse(statistics.since), Date.parse(statistics.until)];
    expect(until - since).toBe(24 * 3_600_000);
    expect(until % 60_000).toBe(0);
    expect(until).toBeGreaterThan(before - 1_000);
    expect(Date.parse(statistics.complete_until)).toBeGreaterThan(before - 15_000);
  });

  it('200 with attempts by the time of their start, buckets without any left out, and percentiles within 10 %', async () => {
    const durations = Array.from({ length: 100 }, (_, index) => 10 + index * 7);
    const webhook = await attempts(
      ...durations.map((durationMs) => ({ at: minute(1), durationMs })),
      { at: minute(2), durationMs: 15_000, error: 'timeout' as const },
      { at: minute(70), durationMs: 5, error: 'http_error' as const, statusCode: 500 },
    );
    const { data, totals } = await read(`?since=${iso(0)}&until=${iso(120)}&webhook_id=${webhook}`);
    expect(data).toMatchObject([
      { start: iso(0), attempts: 101, succeeded: 100, failed: 1, lag_ms: noTimes },
      { start: iso(60), attempts: 1, succeeded: 0, failed: 1 },
    ]);
    expect(totals).toMatchObject({ attempts: 102, succeeded: 100, failed: 2 });
    const p95 = data[0]?.duration_ms.p95 as number;
    expect(Math.abs(p95 - 675)).toBeLessThanOrEqual(67.5);
    const byMinute = await read(`?since=${iso(2)}&until=${iso(71)}&granularity=minute&webhook_id=${webhook}`);
    expect(byMinute.data.map(({ start, attempts: count }) => [start, count])).toEqual([
      [iso(2), 1],
      [iso(70), 1],
    ]);
  });

  it('200 with attempts that a worker has counted together with those that it has not', async () => {
    const webhook = await attempts({ at: minute(61), durationMs: 5 });
    const webhookId = fromPublicId('whk', webhook);
    for (const [level, start] of [
      ['minute', minute(59)],
      ['hour', minute(60)],
      ['day', new Date(begin - 86_400_000)],
    ] as const)
      await sql`insert into webhook_counts (webhook_id, level, start, event_type, error, status_code, buckets, counts,
          last_at) values (${webhookId}, ${level}, ${start}, 'batch.failed', '', 0, '{5,6,70}', '{2,1,1}', ${start})`.execute(
        api.db,
      );
    const { data } = await read(`?since=${iso(59)}&until=${iso(120)}&webhook_id=${webhook}`);
    expect(data.map(({ start, attempts: count, lag_ms }) => [start, count, lag_ms.p50])).toEqual([
      [iso(0), 3, 6],
      [iso(60), 4, 6],
    ]);
  });

  it('200 with what workers have counted for all webhooks of the organization', async () => {
    const { secret } = await api.createKey({});
    const webhook = (await api.createWebhook(secret)).id;
    const webhookId = fromPublicId('whk', webhook) as Uuid;
    const query = api.db.selectFrom('webhooks').select('organization_id').where('id', '=', webhookId);
    const { organization_id } = await query.executeTakeFirstOrThrow();
    for (const [owner, error, count] of [
      [webhookId, '', 2],
      [webhookId, 'timeout', 1],
      [organization_id, '', 5],
      [organization_id, 'timeout', 3],
    ] as const)
      await sql`insert into webhook_counts (webhook_id, level, start, event_type, error, status_code, buckets, counts,
          last_at) values (${owner}, 'hour', ${minute(60)}, 'batch.failed', ${error}, 0, '{5}', ${[count]}::int[], ${minute(60)})`.execute(
        api.db,
      );
    const answer = async (more: string) => {
      const path = `/v1/webhooks/statistics?since=${iso(60)}&until=${iso(120)}${more}`;
      const { data } = webhookStatisticsSchema.parse((await api.call('get', path, secret).expect(200)).body);
      return data.map(({ attempts: count, failed }) => [count, failed]);
    };
    expect(await answer('')).toEqual([[8, 3]]);
    expect(await answer('&group_by=event_type')).toEqual([[8, 3]]);
    expect(await answer('&group_by=error')).toEqual([
      [5, 0],
      [3, 3],
    ]);
    expect(await answer('&group_by=webhook')).toEqual([[3, 1]]);
    expect(await answer(`&webhook_id=${webhook}`)).toEqual([[3, 1]]);
  });

  it('200 with the lag of first attempts alone', async () => {
    const webhook = await attempts(
      { at: minute(10), durationMs: 3, lagMs: 40 },
      { at: minute(11), durationMs: 30_000 },
    );
    const { totals } = await read(`?since=${iso(0)}&until=${iso(60)}&webhook_id=${webhook}`);
    expect(totals.attempts).toBe(2);
    expect(Math.abs((totals.lag_ms.p99 as number) - 40)).toBeLessThanOrEqual(4);
  });

  it('200 with the oldest first, and its groups in order', async () => {
    const [early, late] = [minute(1), minute(61)];
    const webhook = await attempts(
      ...[late, early, late].map((at) => ({ at, durationMs: 5, eventType: 'batch.failed' as const })),
      ...[late, early].map((at) => ({ at, durationMs: 7_000, eventType: 'batch.completed' as const })),
    );
    const { data, totals } = await read(`?since=${iso(0)}&until=${iso(120)}&group_by=event_type&webhook_id=${webhook}`);
    expect(data.map(({ start, event_type, attempts: count }) => [start, event_type, count])).toEqual([
      [iso(0), 'batch.completed', 1],
      [iso(0), 'batch.failed', 1],
      [iso(60), 'batch.completed', 1],
      [iso(60), 'batch.failed', 2],
    ]);
    expect(data.map(({ duration_ms: { p99 } }) => (p99 as number) > 1_000)).toEqual([true, false, true, false]);
    expect(totals.attempts).toBe(5);
  });

  it('200 by webhook, by event type and by error, which is null for a success', async () => {
    const webhook = await attempts(
      { at: minute(1), durationMs: 5, eventType: 'batch.completed' },
      { at: minute(1), durationMs: 5, error: 'timeout' },
    );
    const groups = async (by: string, field: 'webhook_id' | 'event_type' | 'error') =>
      (await read(`?since=${iso(0)}&until=${iso(60)}&group_by=${by}&webhook_id=${webhook}`)).data.map((entry) => [
        entry[field],
        entry.attempts,
      ]);
    expect(await groups('webhook', 'webhook_id')).toEqual([[webhook, 2]]);
    expect(await groups('event_type', 'event_type')).toEqual([
      ['batch.completed', 1],
      ['batch.failed', 1],
    ]);
    expect(await groups('error', 'error')).toEqual([
      [null, 1],
      ['timeout', 1],
    ]);
  });

  it('200 without the attempts of another organization', async () => {
    const webhook = await attempts({ at: minute(1), durationMs: 5 });
    const stranger = await api.createKey({});
    const path = `/v1/webhooks/statistics?since=${iso(0)}&until=${iso(60)}`;
    for (const query of ['', `&webhook_id=${webhook}`])
      expect((await api.call('get', path + query, stranger.secret).expect(200)).body).toMatchObject({ data: [] });
  });

  it.each([
    ['since', `since=${new Date(begin + 1_000).toISOString()}`],
    ['until', `until=${new Date(begin + 59_999).toISOString()}`],
    ['granularity', `since=${new Date(begin - 1_000 * 3_600_000).toISOString()}&until=${iso(1)}`],
    ['granularity', `granularity=minute&since=${iso(-1_000)}&until=${iso(1)}`],
    ['granularity', 'granularity=month'],
    ['until', `since=${new Date(Date.now() + 86_400_000).toISOString().slice(0, 16)}:00Z`],
    ['group_by', 'group_by=key'],
  ])('400 that names %s for %s', async (param, query) => {
    const { body } = await api.call('get', `/v1/webhooks/statistics?${query}`, key).expect(400);
    expect(body.error).toMatchObject({ code: 'validation_failed', param });
  });

  it('200 for exactly 1,000 buckets', async () => {
    const { data } = await read(`?granularity=minute&since=${iso(-1_000)}&until=${iso(0)}`);
    expect(data).toEqual([]);
  });
});
