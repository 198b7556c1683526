import { ApiError, EnterpriseApi } from '@enterprise-api/sdk';
import {
  type ApiCustomer,
  createApiCustomer,
  openStage,
  type ServiceProcess,
  type Stage,
  startFaultProxy,
  testEvent,
  throughProxy,
  until,
} from '@enterprise-api/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';

let stage: Stage;
let api: ServiceProcess;
let customer: ApiCustomer;
let client: EnterpriseApi;

beforeAll(async () => {
  stage = await openStage({ redisUrl: undefined });
  api = await stage.startApi();
  await stage.startWorker();
});
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});
beforeEach(async () => {
  customer = await createApiCustomer(api);
  client = new EnterpriseApi({ apiKey: customer.key, baseUrl: api.url });
});

async function all<Item>(list: AsyncIterable<Item>): Promise<Item[]> {
  const items: Item[] = [];
  for await (const item of list) items.push(item);
  return items;
}

describe('the client against a real API', () => {
  it('makes one webhook, although the answer to its first attempt was lost', async () => {
    await using proxy = await startFaultProxy({ host: '127.0.0.1', port: Number(new URL(api.url).port) });
    const unlucky = new EnterpriseApi({ apiKey: customer.key, baseUrl: throughProxy(api.url, proxy) });
    const url = 'https://hooks.example.com/once';
    proxy.stall('POST /v1/webhooks', { lasting: true });
    const creating = unlucky.webhooks.create({ url, events: ['batch.*'] }, { maxRetries: 10 });
    const made = () => all(client.webhooks.list());
    await until('the first attempt has made it', made, { holds: (found) => found.length === 1 });
    proxy.restore();
    proxy.reset();
    const webhook = await creating;
    expect(webhook.secret).toMatch(/^whsec_/);
    expect(await made()).toMatchObject([{ id: webhook.id, url }]);
  });

  it('reads every item of a list once, page by page', async () => {
    const urls = Array.from({ length: 7 }, (_, index) => `https://hooks.example.com/${index}`);
    for (const url of urls) await client.webhooks.create({ url, events: ['*'] });
    const read = await all(client.webhooks.list({ limit: 3 }));
    expect(read.map(({ url }) => url)).toEqual(urls.toReversed());
    expect(await client.webhooks.list({ limit: 3 }).page()).toMatchObject({ has_more: true });
  });

  it('goes through the life of a webhook', async () => {
    const receiver = await stage.startReceiver();
    const { id, secret } = await client.webhooks.create({ url: receiver.url(), events: ['batch.*'] });
    const etags: (string | undefined)[] = [];
    await client.webhooks.get(id, { onResponse: ({ headers }) => etags.push(headers.etag) });
    await client.webhooks.update(id, { description: 'new' }, { ifMatch: etags[0] });
    const stale = client.webhooks.update(id, { description: 'newer' }, { ifMatch: etags[0] });
    await expect(stale).rejects.toMatchObject({ status: 412, code: 'precondition_failed' });

    await client.webhooks.test(id);
    await customer.emit([testEvent(customer.organizationId, { type: 'batch.failed' })]);
    const succeeded = () => all(client.deliveries.list({ webhook_id: id, status: 'succeeded', order: 'asc' }));
    const isBoth = (found: unknown[]) => found.length === 2;
    const [, delivery] = await until('both are delivered', succeeded, { holds: isBoth });
    const { event_id: eventId = '', id: deliveryId = '' } = delivery ?? {};
    expect(await client.deliveries.get(deliveryId)).toMatchObject({ attempts: [{ status_code: 200 }] });
    expect(await client.events.get(eventId)).toMatchObject({ type: 'batch.failed' });
    expect(await all(client.events.list({ type: 'batch.failed', order: 'asc' }))).toMatchObject([{ id: eventId }]);
    expect(await client.deliveries.retry(deliveryId)).toMatchObject({ id: deliveryId });
    const preview = await client.webhooks.replay(id, { since: new Date(0), status: ['skipped'], dry_run: true });
    expect(preview.by_status).toEqual({});
    const replay = await client.webhooks.replay(id, { since: new Date(0) });
    expect(replay).toMatchObject({ object: 'replay' });
    expect((await client.replays.list({ webhook_id: id }).page()).data).toMatchObject([{ id: replay.id }]);
    expect(await client.replays.get(replay.id)).toMatchObject({ id: replay.id, matched: replay.matched });
    expect(await client.replays.cancel(replay.id)).toMatchObject({ id: replay.id, pending: 0 });
    expect((await client.webhooks.rotateSecret(id, { overlap_seconds: 0 })).secret).not.toBe(secret);
    expect(await client.webhooks.delete(id)).toBeUndefined();
    await expect(client.webhooks.get(id)).rejects.toBeInstanceOf(ApiError);
  });

  it('reads who it is, what it used, and what there is to subscribe to', async () => {
    expect(await client.me.get()).toMatchObject({ organization: { id: customer.organizationId } });
    expect(await client.usage.get({ granularity: 'hour' })).toMatchObject({ object: 'usage' });
    expect((await all(client.webhooks.listEventTypes())).map(({ type }) => type)).toContain('batch.failed');
  });

  it('tells by code why it was refused', async () => {
    const { secret: apiKey } = await customer.createKey(customer.organizationId, { scopes: ['me:read'] });
    const limited = new EnterpriseApi({ apiKey, baseUrl: api.url });
    await expect(limited.webhooks.list().page()).rejects.toMatchObject({
      status: 403,
      type: 'permission_error',
      code: 'forbidden_scope',
      requiredScope: 'webhooks:read',
      requestId: expect.stringMatching(/^req_/),
    });
    const invalid = client.webhooks.create({ url: 'https://hooks.example.com/', events: ['batch.nothing'] });
    await expect(invalid).rejects.toMatchObject({ code: 'validation_failed', param: 'events[0]' });
    const reused = { idempotencyKey: 'the-same' };
    await client.webhooks.create({ url: 'https://hooks.example.com/1', events: ['*'] }, reused);
    const other = client.webhooks.create({ url: 'https://hooks.example.com/2', events: ['*'] }, reused);
    await expect(other).rejects.toMatchObject({ status: 422, code: 'idempotency_key_reused' });
  });
});
