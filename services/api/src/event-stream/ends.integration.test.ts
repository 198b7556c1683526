import { createConnection, type Socket } from 'node:net';
import {
  createTestDatabase,
  insertEvents,
  lowest,
  queueBackends,
  startRedis,
  type TestDatabase,
  testEvent,
  until,
} from '@enterprise-api/testkit';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { openStream, type StreamClient } from '../testing/stream-client.ts';
import { startTestApi, type TestApi } from '../testing/test-api.ts';

/** A stream whose key grants it no more ends within this time. */
const promisedMs = 5_000;
/** A busy machine may take longer. */
const waits = { withinMs: 30_000 };

const opened: StreamClient[] = [];
afterEach(() => {
  for (const client of opened.splice(0)) client.close();
});

async function open(api: TestApi, secret: string, query = ''): Promise<StreamClient> {
  const client = await openStream(`${api.publicUrl}/v1/events/stream${query}`, { Authorization: `Bearer ${secret}` });
  opened.push(client);
  return client;
}

describe.each(queueBackends())('streams of two processes, with the queue on $name,', ({ start }) => {
  let one: TestApi;
  let two: TestApi;
  let database: TestDatabase;
  let store: Awaited<ReturnType<typeof start>>;
  beforeAll(async () => {
    store = await start();
    database = await createTestDatabase();
    const environment = store.redisUrl === undefined ? {} : { REDIS_URL: store.redisUrl };
    [one, two] = await Promise.all([startTestApi({ database, environment }), startTestApi({ database, environment })]);
  });
  afterAll(async () => {
    await Promise.all([one.stop(), two.stop()]);
    await database.drop();
    await store.close();
  });

  /** Resolves with the time from which on the key grants nothing, where that is not now. */
  type Change = (key: { id: string; secret: string; organization_id: string }) => PromiseLike<unknown>;

  it.each<[string, Change]>([
    ['is revoked', ({ id }) => one.internal('delete', `/internal/v1/keys/${id}`).expect(204)],
    ['revokes itself', ({ secret }) => one.call('delete', '/v1/me/key', secret).expect(204)],
    ['expires', expire],
    ['loses webhooks:read', ({ id }) => patchKey(id, { scopes: ['me:read'] })],
    ['loses the address', ({ id }) => patchKey(id, { ip_allowlist: ['203.0.113.7'] })],
    [
      'is of an organization whose plan falls to starter',
      ({ organization_id: id }) =>
        one.internal('patch', `/internal/v1/organizations/${id}`).send({ plan: 'starter' }).expect(200),
    ],
  ])('end within 5 s when their key %s, and those of another key go on', async (_what, change) => {
    const tookMs = await lowest(promisedMs, async () => {
      const key = await one.createKey();
      const [stays, ...ending] = [
        await open(two, (await one.createKey()).secret),
        await open(one, key.secret),
        await open(two, key.secret),
      ];
      const changed = await change(key);
      const from = typeof changed === 'number' ? changed : Date.now();
      for (const client of ending) await until('the stream ends', client.isOver, waits);
      expect(stays?.isOver()).toBe(false);
      return Date.now() - from;
    });
    expect(tookMs).toBeLessThanOrEqual(promisedMs);
  });
  async function expire({ id }: { id: string }): Promise<number> {
    const expiresAt = Date.now() + 3_000;
    await patchKey(id, { expires_at: new Date(expiresAt).toISOString() });
    return expiresAt;
  }
  const patchKey = (id: string, change: object) =>
    one.internal('patch', `/internal/v1/keys/${id}`).send(change).expect(200);

  it('get events that came to the other process', async () => {
    const key = await one.createKey();
    const client = await open(two, key.secret);
    const event = { organization_id: key.organization_id, type: 'batch.failed', data: { batch_id: 'b' } };
    const { body } = await one.internal('post', '/internal/v1/events').send(event).expect(202);
    expect(await client.ids(1)).toEqual([body.data[0].id]);
  });

  it('count together where Redis counts them, and by process where nobody does', async () => {
    const { secret } = await one.createKey();
    for (let count = 0; count < 10; count++) expect((await open(one, secret)).answer.status).toBe(200);
    expect((await open(one, secret)).answer.status).toBe(429);
    expect((await open(two, secret)).answer.status).toBe(store.redisUrl === undefined ? 200 : 429);
  });
});

describe('a stream', () => {
  it('ends with a hint when to come back when the process stops, and goes on in another one without a gap', async () => {
    const database = await createTestDatabase();
    const [one, two] = await Promise.all([startTestApi({ database }), startTestApi({ database })]);
    const key = await one.createKey();
    const client = await open(one, key.secret);
    const emit = () => insertEvents(one.db, [testEvent(key.organization_id)]);
    await emit();
    const [last] = await client.ids(1);
    const stopping = one.stop();
    await until('the stream ends', client.isOver, waits);
    expect(client.text()).toMatch(/\n\nretry: [123]\d{3}\n\n$/);
    await stopping;
    await insertEvents(two.db, [testEvent(key.organization_id)]);
    const again = await open(two, key.secret, `?after=${last}`);
    expect(await again.ids(1)).not.toContain(last);
    again.close();
    await two.stop();
    await database.drop();
  });

  it('is open although Redis is away', async () => {
    const redis = await startRedis();
    const api = await startTestApi({ environment: { REDIS_URL: redis.url } });
    const { secret } = await api.createKey();
    await redis.crash();
    expect((await open(api, secret)).answer.status).toBe(200);
    await api.stop();
  });

  it('is cut when its client does not read, and other clients get everything', async () => {
    const api = await startTestApi();
    const key = await api.createKey();
    const other = await open(api, key.secret);
    const slow = [await openUnread(api, key.secret)];
    const data = { batch_id: 'b', text: 'x'.repeat(200_000) };
    for (let count = 0; count < 10; count++) {
      await insertEvents(
        api.db,
        Array.from({ length: 10 }, () => testEvent(key.organization_id, { type: 'batch.failed', data })),
      );
    }
    const ids = await other.ids(100);
    expect(ids).toHaveLength(100);
    const endings = async () => {
      const lines = (await api.internal('get', '/metrics')).text.match(/^api_event_streams_ended_total.*[1-9]\d*$/gm);
      // A machine that is too busy for the key's check ends a stream before its client is slow for long: another try.
      if ((lines?.length ?? 0) >= slow.length) slow.push(await openUnread(api, key.secret, `?after=${ids[0]}`));
      return lines;
    };
    await until('the slow one is cut', endings, {
      holds: (lines) => lines?.some((line) => line.includes('client_slow')) === true,
      withinMs: 100_000,
    });
    expect(other.isOver()).toBe(false);
    for (const socket of slow) socket.destroy();
    other.close();
    await api.stop();
  });
});

/** A stream whose client reads its beginning and nothing more. */
async function openUnread(api: TestApi, secret: string, query = ''): Promise<Socket> {
  const { hostname, port } = new URL(api.publicUrl);
  const socket = createConnection({ host: hostname, port: Number(port) });
  socket.on('error', () => undefined);
  socket.write(`GET /v1/events/stream${query} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${secret}\r\n\r\n`);
  await new Promise((resolve) => socket.once('data', resolve));
  return socket.pause();
}
