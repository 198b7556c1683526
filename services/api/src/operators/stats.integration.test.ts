import { statsCountLimit, statsParts } from '@enterprise-api/shared/contracts';
import { ensurePartitions, uuidAtTime } from '@enterprise-api/shared/ledger';
import { createJobProducer, queueNames, selectQueueBackend } from '@enterprise-api/shared/queue';
import { newUuid } from '@enterprise-api/shared/runtime';
import { insertOrganization, insertWebhook, queueBackends, until } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { openQueryPlans, type QueryPlans, rowsRead, wholeTablesRead } from '../testing/query-plan.ts';
import { startTestApi, type TestApi } from '../testing/test-api.ts';
import { readLately, readOutbox, readSnapshot, readWaiting } from './stats-queries.ts';

const path = '/internal/v1/stats';

/** Asks until these parts alone are missing: on a machine that is very busy, others may take their time as well. */
async function answerWithout(api: TestApi, holds: (unanswered: string[]) => boolean) {
  const ask = () => api.internal('get', path);
  const { body } = await until('the statistics', ask, {
    withinMs: 40_000,
    holds: ({ status, body: stats }) => status === 200 && holds(stats.unanswered),
  });
  return body;
}

const wholeAnswer = (api: TestApi) => answerWithout(api, (unanswered) => unanswered.length === 0);

describe.each(queueBackends())('GET /internal/v1/stats, queued on $name', (backend) => {
  let api: TestApi;
  let redisUrl: string | undefined;
  let closeStore: () => Promise<void>;

  beforeAll(async () => {
    ({ redisUrl, close: closeStore } = await backend.start());
    api = await startTestApi(redisUrl === undefined ? {} : { environment: { REDIS_URL: redisUrl } });
  });
  afterAll(async () => {
    await api.stop();
    await closeStore();
  });

  const read = () => wholeAnswer(api);

  it('200 with what waits, what happened lately, and the jobs of each queue', async () => {
    const organizationId = await insertOrganization(api.db);
    const webhookId = await insertWebhook(api.db, { organizationId });
    await sql`update webhooks set state = 'disabled', disabled_reason = 'gone' where id = ${webhookId}`.execute(api.db);
    await sql`insert into webhook_health (webhook_id, open_until) values (${webhookId}, now() + interval '1 hour')`.execute(
      api.db,
    );
    const [first, second] = [newUuid(), newUuid()];
    await sql`insert into deliveries (id, organization_id, webhook_id, event_id, event_type, status, max_attempts)
      select id, ${organizationId}, ${webhookId}, id, 'batch.failed', status, 3
      from unnest(array[${first}, ${second}]::uuid[], array['pending', 'failed']) as d (id, status)`.execute(api.db);
    await sql`insert into pending_deliveries (delivery_id, webhook_id, organization_id, event_id, event_type, max_attempts, next_attempt_at)
      values (${first}, ${webhookId}, ${organizationId}, ${first}, 'batch.failed', 3, now() - interval '2 minutes')`.execute(
      api.db,
    );
    await sql`insert into outbox (event_id, organization_id, created_at)
      values (${newUuid()}, ${organizationId}, now() - interval '1 hour')`.execute(api.db);
    const backendOfApi = selectQueueBackend({ redisUrl, databaseUrl: api.database.url });
    const producer = createJobProducer(backendOfApi, 'fanOut', () => undefined);
    await producer.add({ version: 1, event_ids: [newUuid()] });
    await producer.close();

    const stats = await read();
    expect(stats).toMatchObject({
      object: 'stats',
      counts_stop_at: statsCountLimit,
      unanswered: [],
      outbox: { events: 1, oldest_seconds: expect.any(Number), parked_events: 0 },
      deliveries: { pending: 1, due: 1, overdue: 1 },
      last_minute: { created: 2, pending: 1, failed: 1, succeeded: 0, canceled: 0 },
      webhooks: { open_circuits: 1, disabled_failing: 0, disabled_gone: 1 },
      partitions: { newest_month: expect.stringMatching(/^\d{4}-\d\d$/) },
      retention: { kept_months: 0 },
    });
    await sql`insert into sending_pauses (organization_id) values (${organizationId})`.execute(api.db);
    expect((await read()).deliveries).toEqual({ pending: 1, due: 1, overdue: 0 });
    await sql`truncate sending_pauses`.execute(api.db);
    expect(stats.outbox.oldest_seconds).toBeGreaterThanOrEqual(3_600);
    expect(stats.queues.map(({ name }: { name: string }) => name)).toEqual(queueNames);
    expect(stats.queues[0]).toMatchObject({ waiting: 1, active: 0, failed: 0, is_paused: false });
  });

  it('200 with what is paused: everybody, and organizations by themselves', async () => {
    const { id } = await api.createOrganization();
    await api.internal('post', '/internal/v1/sending').send({ paused: true, organization_id: id }).expect(200);
    const { since } = (await api.internal('post', '/internal/v1/sending').send({ paused: true }).expect(200)).body;
    expect((await read()).sending).toEqual({
      paused: true,
      since,
      paused_organizations: 1,
      organizations: [{ organization_id: id, since: expect.any(String) }],
    });
  });

  it('200 with the workers whose delivery settings differ from the API', async () => {
    const own = (await api.call('get', '/v1/webhooks/delivery-policy', (await api.createKey()).secret).expect(200))
      .body;
    const report = (policy: object, ago = '0') =>
      sql`insert into worker_policies (worker_id, policy, seen_at)
        values (gen_random_uuid(), ${JSON.stringify(policy)}, now() - ${ago}::interval)`.execute(api.db);
    await report(own);
    expect((await read()).delivery_policy).toEqual({ workers: 1, differing_workers: 0, differing_fields: [] });
    await report({ ...own, timeout_ms: 1, schedule_ms: [1] });
    await report({ ...own, jitter: 5 }, '1 hour');
    expect((await read()).delivery_policy).toEqual({
      workers: 2,
      differing_workers: 1,
      differing_fields: ['timeout_ms', 'schedule_ms'],
    });
  });

  it('401 without the secret', async () => {
    await api.internal('get', path).set('Authorization', 'Bearer wrong').expect(401);
  });
});

describe('GET /internal/v1/stats while a part of the ledger does not answer', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startTestApi();
  });
  afterAll(() => api.stop());

  /** Asks while another transaction keeps everybody out of these tables. */
  const readWithout = (tables: string, holds: (unanswered: string[]) => boolean) =>
    api.db.transaction().execute(async (trx) => {
      await sql`lock table ${sql.raw(tables)} in access exclusive mode`.execute(trx);
      return answerWithout(api, holds);
    });

  it('200 with null for that part, which is named, and with all others', async () => {
    const stats = await readWithout('webhook_health', (unanswered) => unanswered.join() === 'webhooks');
    expect(stats).toMatchObject({ unanswered: ['webhooks'], webhooks: null });
    for (const part of statsParts.filter((name) => name !== 'webhooks')) expect(stats[part]).not.toBeNull();
  });

  it('200 within seconds where nothing of the ledger answers, with what is known of the queue', async () => {
    const tables = 'sending_pauses, outbox, pending_deliveries, webhook_health, deliveries, retention_progress';
    const stats = await readWithout(tables, (unanswered) => !unanswered.includes('queues'));
    const answered = statsParts.filter((part) => stats[part] !== null);
    expect(stats.unanswered).toEqual(
      expect.arrayContaining(['sending', 'outbox', 'deliveries', 'last_hour', 'retention']),
    );
    expect([...answered, ...stats.unanswered].sort()).toEqual([...statsParts].sort());
  });
});

describe('the statements of the statistics', () => {
  let api: TestApi;
  let plans: QueryPlans;
  const monthsAgo = new Date(Date.now() - 90 * 86_400_000);

  /** Three times as many rows as are counted, of an hour; and older ones. */
  beforeAll(async () => {
    api = await startTestApi();
    plans = openQueryPlans(api.database.url, { enable_seqscan: 'off' });
    await ensurePartitions(api.db, new Date());
    await ensurePartitions(api.db, monthsAgo);
    const organizationId = await insertOrganization(api.db);
    const webhookId = await insertWebhook(api.db, { organizationId });
    const rows = 3 * statsCountLimit;
    await sql`
      with d as materialized (
        select (lpad(to_hex((extract(epoch from clock_timestamp()) * 1000)::bigint - n), 12, '0') || '8000' || '8' || lpad(to_hex(n), 15, '0'))::uuid as id
        from generate_series(1, ${rows}::int) n
      ), written as (
        insert into deliveries (id, organization_id, webhook_id, event_id, event_type, status, max_attempts)
        select id, ${organizationId}, ${webhookId}, id, 'batch.failed', 'pending', 3 from d
      ), attempted as (
        insert into attempts (delivery_id, id, number, round, superseded, manual, started_at, duration_ms, error, webhook_version)
        select id, id, 1, 0, false, false, now(), 1, 'timeout', 1 from d
      ), waiting as (
        insert into outbox (event_id, organization_id) select id, ${organizationId} from d
      )
      insert into pending_deliveries (delivery_id, webhook_id, organization_id, event_id, event_type, max_attempts, next_attempt_at)
      select id, ${webhookId}, ${organizationId}, id, 'batch.failed', 3, now() - interval '1 hour' from d`.execute(
      api.db,
    );
    // Months of attempts without one of the last hour.
    await sql`
      insert into attempts (delivery_id, id, number, round, superseded, manual, started_at, recorded_at, duration_ms, error, webhook_version)
      select id, id, 1, 0, false, false, ${monthsAgo}, ${monthsAgo}, 1, 'timeout', 1
      from (select (substring(${uuidAtTime(monthsAgo.getTime())}, 1, 14) || '8000-8' || lpad(to_hex(n), 15, '0'))::uuid as id
        from generate_series(1, ${rows}::int) n) d`.execute(api.db);
    await sql`analyze deliveries, attempts, outbox, pending_deliveries`.execute(api.db);
  });
  afterAll(async () => {
    await plans.close();
    await api.stop();
  });

  it('count no further than the limit, whatever waits', async () => {
    const body = await wholeAnswer(api);
    expect(body.deliveries).toEqual({ pending: statsCountLimit, due: statsCountLimit, overdue: statsCountLimit });
    expect([body.outbox.events, body.last_hour.created, body.last_hour.failed_attempts]).toEqual([
      statsCountLimit,
      statsCountLimit,
      statsCountLimit,
    ]);
  });

  it('find failed attempts of an hour by their time, in every month', async () => {
    const setting = await readSnapshot(api.db, async (trx) => sql`show enable_seqscan`.execute(trx));
    expect(setting.rows).toEqual([{ enable_seqscan: 'off' }]);
    const lately = await plans.of((recorded) => readLately(recorded, Date.now(), 3_600));
    expect(wholeTablesRead(lately, /^attempts/)).toEqual([]);
  });

  it('read no more rows than they count', async () => {
    const waiting = await plans.of((recorded) => readWaiting(recorded));
    expect(rowsRead(waiting, /^pending_deliveries$/)).toBeLessThanOrEqual(3 * statsCountLimit);
    const outbox = await plans.of((recorded) => readOutbox(recorded));
    expect(rowsRead(outbox, /^outbox$/)).toBeLessThanOrEqual(statsCountLimit + 1);
    const lately = await plans.of((recorded) => readLately(recorded, Date.now(), 60));
    expect(rowsRead(lately, /^deliveries/)).toBeLessThanOrEqual(statsCountLimit);
    expect(wholeTablesRead(lately, /^deliveries/)).toEqual([]);
  });
});
