import { toPublicId } from '@enterprise-api/shared/runtime';
import {
  type ApiCustomer,
  createApiCustomer,
  queueBackends,
  type ServiceProcess,
  testEvent,
} from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { openTestStage, type TestStage, uuidOf } from './stage.ts';

jest.setTimeout(180_000);

describe.each(queueBackends())('a receiver behind a gateway, queued on $name', (backend) => {
  let stage: TestStage;
  let api: ServiceProcess;
  let worker: ServiceProcess;
  let customer: ApiCustomer;

  beforeAll(async () => {
    stage = await openTestStage(backend);
    api = await stage.startApi();
    worker = await stage.startWorker();
  });
  afterAll(() => stage.close());

  const rows = (condition: Parameters<TestStage['untilDeliveries']>[1]) =>
    stage.untilDeliveries(uuidOf('org', customer.organizationId), condition, 60_000);
  const emit = () => customer.emit([testEvent(customer.organizationId, { type: 'batch.failed' })]);

  it('gets the headers of its webhook, the changed ones after a change, and nobody else sees them', async () => {
    const receiver = await stage.startReceiver();
    customer = await createApiCustomer(api);
    const headers = { Authorization: 'Bearer canary-1', apikey: 'canary-2' };
    const { id } = await customer.createWebhook(receiver.url(), { headers });
    await emit();
    const [first] = await receiver.waitFor(1);
    expect(first?.headers).toMatchObject({ authorization: 'Bearer canary-1', apikey: 'canary-2' });
    await customer.call('PATCH', `/v1/webhooks/${id}`, { headers: { apikey: 'canary-3' } });
    await emit();
    const [, second] = await receiver.waitFor(2);
    expect(second?.headers).toMatchObject({ apikey: 'canary-3' });
    expect(JSON.stringify(second?.headers)).not.toContain('canary-1');
    const [delivery] = await rows((all) => all.length === 2 && all.every(({ status }) => status === 'succeeded'));
    const listed = await customer.call('GET', '/v1/webhooks/deliveries');
    const shown = await Promise.all(
      listed.body.data.map(({ id }: { id: string }) => customer.call('GET', `/v1/webhooks/deliveries/${id}`)),
    );
    expect(shown).toHaveLength(2);
    expect(JSON.stringify([delivery, shown.map(({ body }) => body), worker.lines, api.lines])).not.toContain('canary');
  });

  it('ends a delivery at once with webhook-delivery: abort-message, and with no other value', async () => {
    const values = ['abort-message', 'other'];
    const receiver = await stage.startReceiver({
      respond: ({ path }: { path: string }) => ({
        status: 500,
        headers: { 'webhook-delivery': values[Number(path.slice(1))] ?? '' },
      }),
    });
    customer = await createApiCustomer(api);
    await customer.createWebhook(receiver.url('/0'));
    await customer.createWebhook(receiver.url('/1'));
    await emit();
    const all = await rows((found) => found.length === 2 && found.every(({ attempt_count }) => attempt_count >= 1));
    expect(all.map(({ status }) => status).sort()).toEqual(['failed', 'pending']);
    const failed = all.find(({ status }) => status === 'failed');
    expect(failed).toMatchObject({ attempt_count: 1, last_error: 'http_error', last_status_code: 500 });
  });

  it('shows of failed attempts alone where they connected and what the gateway says of itself', async () => {
    const headers = { Server: 'gateway', 'Set-Cookie': 'canary', Location: '/in?canary', 'Retry-After': '0' };
    let status = 302;
    const receiver = await stage.startReceiver({ respond: () => ({ status, headers }) });
    customer = await createApiCustomer(api);
    await customer.createWebhook(receiver.url('/out'));
    await emit();
    await rows(([row]) => row?.attempt_count === 1);
    status = 200;
    const [{ id } = { id: '' }] = await rows(([row]) => row?.status === 'succeeded');
    const path = `deliveries/${toPublicId('dlv', id)}`;
    const { body } = await customer.call('GET', `/v1/webhooks/${path}`);
    const [succeeded, ...failed] = body.attempts;
    expect(succeeded).toMatchObject({ status_code: 200, remote_address: null, response_headers: null });
    expect(failed.length).toBeGreaterThan(0);
    for (const attempt of failed) {
      expect(attempt).toMatchObject({ status_code: 302, remote_address: '127.0.0.1' });
      expect(attempt.response_headers).toMatchObject({ server: 'gateway', location: receiver.url('/in') });
    }
    expect(JSON.stringify(body.attempts)).not.toContain('canary');
    const seen = await customer.internal('GET', `/internal/v1/${path}`);
    expect(seen.body.attempts).toEqual(body.attempts);
  });
});
