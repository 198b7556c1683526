import { createApiCustomer, queueBackends, testEvent, until } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { sql } from 'kysely';
import { openTestStage, type TestStage, uuidOf } from './stage.ts';

jest.setTimeout(120_000);

describe.each(queueBackends())('a webhook with auto_recover, queued on $name', (backend) => {
  let stage: TestStage;
  beforeAll(async () => {
    stage = await openTestStage(backend);
  });
  afterAll(() => stage.close());

  it('is disabled as failing, probed without customers’ data, and enabled; a replay sends what it missed', async () => {
    const api = await stage.startApi();
    await stage.startWorker();
    let status = 500;
    const receiver = await stage.startReceiver({ respond: () => ({ status }) });
    const alerts = await stage.startReceiver();
    const customer = await createApiCustomer(api);
    const { id } = await customer.createWebhook(receiver.url(), { auto_recover: true });
    await customer.createWebhook(alerts.url(), { events: ['webhook.recovered'] });
    await sql`insert into webhook_health (webhook_id, failed_attempts, first_failure_at)
      values (${uuidOf('whk', id)}, 20, now() - interval '6 days')`.execute(stage.db);
    const call = async (method: 'GET' | 'POST', path: string, body?: object) =>
      (await customer.call(method, `/v1/webhooks/${path}`, body)).body;
    const emit = (canaries: string[]) =>
      customer.emit(
        canaries.map((canary) =>
          testEvent(customer.organizationId, { type: 'batch.failed', data: { batch_id: `canary ${canary}` } }),
        ),
      );
    await emit(['before']);
    await until('the end', () => call('GET', id), { holds: (webhook) => webhook.disabled_reason === 'failing' });
    const findProbe = async () => (await customer.deliveries('&event_type=webhook.test'))[0];
    const probe = await until('a failed probe', findProbe, { holds: (found) => found?.attempt_count === 1 });
    expect(probe).toMatchObject({ status: 'pending', test: true, max_attempts: 168, waiting_for: 'schedule' });
    const inMs = Date.parse(String(probe?.next_attempt_at)) - Date.now();
    expect(Math.abs(inMs - 3_600_000)).toBeLessThan(60_000);
    await emit(['meanwhile 1', 'meanwhile 2']);
    await until('fan-out', async () => (await sql`select from outbox`.execute(stage.db)).rows.length === 0);

    status = 200;
    await sql`update pending_deliveries set next_attempt_at = now()`.execute(stage.db);
    await until('the recovery', () => call('GET', id), { holds: (webhook) => webhook.enabled });
    const shown = await call('GET', `deliveries/${probe?.id}`);
    expect(shown.attempts).toMatchObject([
      { trigger: 'probe', status_code: 200 },
      { trigger: 'probe', status_code: 500 },
    ]);
    const [recovered] = await alerts.waitFor(1);
    const { data } = JSON.parse(String(recovered?.body));
    expect(data).toMatchObject({ cause: 'probe', skipped: 2 });
    const probes = receiver.requests.filter(({ headers }) => headers['x-service-test'] === 'true');
    expect(probes).toHaveLength(2);
    for (const { body } of probes) expect(String(body)).not.toContain('canary');
    expect(receiver.requests.filter(({ body }) => String(body).includes('meanwhile'))).toHaveLength(0);

    expect(await call('POST', `${id}/replay`, data.replay)).toMatchObject({ matched: data.skipped });
    await until('the replay', () => receiver.requests.filter(({ body }) => String(body).includes('meanwhile')), {
      holds: (sent) => sent.length === 2,
    });
  });

  it('that has failed for a day and gets another URL: webhook.recovered follows its first success, once', async () => {
    const api = await stage.startApi();
    const broken = await stage.startReceiver({ respond: () => ({ status: 500 }) });
    const repaired = await stage.startReceiver();
    const alerts = await stage.startReceiver();
    const customer = await createApiCustomer(api);
    const { id } = await customer.createWebhook(broken.url());
    await customer.createWebhook(alerts.url(), { events: ['webhook.failing', 'webhook.recovered'] });
    await sql`insert into webhook_health (webhook_id, failed_attempts, first_failure_at)
      values (${uuidOf('whk', id)}, 5, now() - interval '25 hours')`.execute(stage.db);
    await Promise.all([stage.startWorker(), stage.startWorker()]);
    await alerts.waitFor(1);
    await customer.call('PATCH', `/v1/webhooks/${id}`, { url: repaired.url() });
    await customer.emit([0, 1, 2].map(() => testEvent(customer.organizationId, { type: 'batch.failed' })));
    await repaired.waitFor(3);
    const told = (await alerts.waitFor(2)).map(({ body }) => JSON.parse(String(body)));
    expect(told.map(({ type }) => type)).toEqual(['webhook.failing', 'webhook.recovered']);
    expect(told[1]?.data).toMatchObject({ cause: 'succeeded', webhook: { id, url: repaired.url() } });
    const events = (await customer.call('GET', '/v1/events?type=webhook.failing&type=webhook.recovered')).body.data;
    expect(events.map(({ type }: { type: string }) => type)).toEqual(['webhook.recovered', 'webhook.failing']);
  });
});
