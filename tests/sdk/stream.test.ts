import { EnterpriseApi, type StreamedEvent } from '@enterprise-api/sdk';
import { verifyWebhook } from '@enterprise-api/sdk/webhooks';
import {
  type ApiCustomer,
  createApiCustomer,
  freePorts,
  openStage,
  type ServiceProcess,
  type Stage,
  testEvent,
  until,
} from '@enterprise-api/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';

const withinMs = 60_000;

let stage: Stage;
let producing: ServiceProcess;
let customer: ApiCustomer;

beforeAll(async () => {
  stage = await openStage({ redisUrl: undefined });
  producing = await stage.startApi();
});
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});
beforeEach(async () => {
  customer = await createApiCustomer(producing);
});

/** @returns the ids of the events */
async function emit(count: number): Promise<string[]> {
  const events = Array.from({ length: count }, () => testEvent(customer.organizationId, { type: 'batch.failed' }));
  const { body } = await customer.emit(events);
  return body.data.map(({ id }: { id: string }) => id);
}

/** Follows the stream beside the test until it is stopped. */
function follow(url: string, after?: string) {
  const ending = new AbortController();
  const messages: (StreamedEvent & { secret: string })[] = [];
  const secrets: string[] = [];
  let losses = 0;
  const client = new EnterpriseApi({ apiKey: customer.key, baseUrl: url });
  const following = (async () => {
    const stream = client.events.stream({
      after,
      signal: ending.signal,
      onConnect: (secret) => secrets.push(secret),
      onDisconnect: () => losses++,
    });
    for await (const message of stream) messages.push({ ...message, secret: secrets.at(-1) ?? '' });
  })();
  return {
    messages,
    secrets,
    losses: () => losses,
    ids: () => messages.map(({ id }) => id),
    stop: async () => {
      ending.abort();
      await following;
    },
  };
}

describe('the stream of the client against a real API', () => {
  it('leaves out no event and hands on none twice when the API is killed and started again', async () => {
    const [port = 0, internalPort = 0] = await freePorts(2);
    const start = () => stage.startApi({ API_PORT: String(port), INTERNAL_PORT: String(internalPort) });
    const before = await emit(1);
    const api = await start();
    const stream = follow(api.url);
    await until('the stream has begun', () => stream.secrets.length === 1, { withinMs });
    const ids = await emit(3);
    await until('the first is there', () => stream.ids().includes(ids[0] ?? ''), { withinMs });
    api.kill('SIGKILL');
    await api.exited;
    ids.push(...(await emit(3)));
    await until('the loss is noticed', () => stream.losses() > 0, { withinMs });
    await start();
    ids.push(...(await emit(3)));
    await until('every event is there', () => ids.every((id) => stream.ids().includes(id)), { withinMs });
    await stream.stop();
    expect(stream.ids().sort()).toEqual(ids.sort());
    expect(stream.ids()).not.toContain(before[0]);
    expect(new Set(stream.secrets).size).toBe(2);
    for (const { id, event, headers, body, secret } of stream.messages) {
      expect(event.id).toBe(id);
      expect(headers).toMatchObject({ 'X-Service-Event-Id': id, 'X-Service-Attempt': '1' });
      expect(await verifyWebhook({ headers, rawBody: body, secret })).toEqual(event);
    }
  });

  it('leaves out no event when the connection is lost before the first event that the organization ever has', async () => {
    const [port = 0, internalPort = 0] = await freePorts(2);
    const start = () => stage.startApi({ API_PORT: String(port), INTERNAL_PORT: String(internalPort) });
    const api = await start();
    const stream = follow(api.url);
    await until('the stream has begun', () => stream.secrets.length === 1, { withinMs });
    api.kill('SIGKILL');
    await api.exited;
    const ids = await emit(3);
    await start();
    await until('every event is there', () => stream.messages.length === 3, { withinMs });
    await stream.stop();
    expect(stream.ids().sort()).toEqual(ids.sort());
  });

  it('begins after the event that it is told', async () => {
    const [first = '', ...rest] = await emit(1);
    expect(rest).toEqual([]);
    const ids = await emit(2);
    const stream = follow(producing.url, first);
    await until('the later ones are there', () => stream.messages.length === 2, { withinMs });
    await stream.stop();
    expect(stream.ids().sort()).toEqual(ids.sort());
  });

  it('ends with the error of the API when it is refused for good', async () => {
    const client = new EnterpriseApi({ apiKey: customer.key, baseUrl: producing.url });
    const unknown = client.events.stream({ after: 'evt_7zzzzzzzzzzzzzzzzzzzzzzzzz' }).next();
    await expect(unknown).rejects.toMatchObject({ name: 'NotFoundError', status: 404, code: 'not_found' });
    const { secret: apiKey } = await customer.createKey(customer.organizationId, { scopes: ['me:read'] });
    const limited = new EnterpriseApi({ apiKey, baseUrl: producing.url }).events.stream().next();
    await expect(limited).rejects.toMatchObject({ status: 403, code: 'forbidden_scope' });
  });
});
