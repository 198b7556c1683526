import { once } from 'node:events';
import {
  createTestDatabase,
  type FaultProxy,
  type RedisServer,
  spawnGuarded,
  startFaultProxy,
  startRedis,
  startRedisCluster,
  type TestDatabase,
  throughProxy,
  until,
} from '@enterprise-api/testkit';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import { newUuid } from '../../runtime/ids.ts';
import { connectionSettings } from '../database.ts';
import { type Change, type ChangeFeed, createChangeFeed } from './change-feed.ts';

describe('the change feed over Redis', () => {
  let redis: RedisServer;
  let proxy: FaultProxy;
  let operator: Redis;
  let errors: Error[];
  let feeds: ChangeFeed[];
  beforeEach(async () => {
    redis = await startRedis();
    proxy = await startFaultProxy({ host: '127.0.0.1', port: redis.port });
    operator = new Redis(redis.url);
    errors = [];
    feeds = [];
  });
  afterEach(async () => {
    await Promise.all(feeds.map((feed) => feed.close()));
    operator.disconnect();
    await proxy.close();
    await redis.close();
  });

  const open = (url: string): ChangeFeed => {
    const feed = createChangeFeed({ redisUrl: url, postgres: {}, onError: (error) => errors.push(error) });
    feeds.push(feed);
    return feed;
  };

  /** The connections that Redis sees subscribed. */
  const subscribers = async () => {
    const clients = (await operator.client('LIST', 'TYPE', 'PUBSUB')) as string;
    return [...clients.matchAll(/^id=(\d+)/gm)].map(([, id]) => id);
  };

  it('reports that changes may have been missed once it is subscribed again', async () => {
    const publishing = open(redis.url);
    const listening = open(throughProxy(redis.url, proxy));
    const changes: Change[] = [];
    const received = new EventTarget();
    const missed = new EventTarget();
    const onChange = (change: Change) => {
      changes.push(change);
      received.dispatchEvent(new Event('change'));
    };
    const subscribed = once(missed, 'missed');
    await listening.subscribe(onChange, () => missed.dispatchEvent(new Event('missed')));
    await subscribed;

    const again = once(missed, 'missed');
    proxy.reset();
    await again;
    const change: Change = { kind: 'webhook', id: newUuid() };
    const delivered = once(received, 'change');
    await publishing.publish(change);
    await delivered;
    expect(changes).toEqual([change]);
  });

  it('can be closed in the middle of subscribing again', async () => {
    const feed = open(throughProxy(redis.url, proxy));
    const subscribed = Promise.withResolvers<void>();
    await feed.subscribe(() => undefined, subscribed.resolve);
    await subscribed.promise;
    const before = await subscribers();
    expect(before).toHaveLength(1);

    proxy.stall('subscribe', { lasting: true });
    proxy.reset();
    await until('another subscriber', async () => {
      const [now] = await subscribers();
      return now !== undefined && now !== before[0];
    });
    // An unhandled rejection would end a process, and fails this test.
    await feed.close();
    await until('no subscriber', async () => (await subscribers()).length === 0);
    expect(errors.map(({ message }) => message)).not.toContain('Connection is closed.');
  });
});

describe('the change feed over a Redis Cluster', () => {
  it('goes to another node when its own is lost, reports that changes may have been missed, and gets those of any node', async () => {
    await using cluster = await startRedisCluster();
    const [, first = ''] = /(127[^,]*)/.exec(cluster.url) ?? [];
    // The others are learned from the one that is named, and asked once it is gone.
    await using proxy = await startFaultProxy({ host: '127.0.0.1', port: Number(first.split(':')[1]) });
    const errors: Error[] = [];
    const onError = (error: Error) => errors.push(error);
    const options = { postgres: {}, onError };
    const listening = createChangeFeed({ redisUrl: `redis+cluster://127.0.0.1:${proxy.port}`, ...options });
    const publishing = createChangeFeed({ redisUrl: cluster.url, ...options });
    const received = new Set<string>();
    let missed = 0;
    await listening.subscribe(
      ({ id }) => received.add(id),
      () => {
        missed += 1;
      },
    );
    await until('the first subscription', () => missed === 1);
    const isReceived = async () => {
      const id = newUuid();
      await publishing.publish({ kind: 'webhook', id });
      await until('the change', () => received.has(id), { withinMs: 1_000 });
      return true;
    };
    await until('a change', isReceived);
    proxy.cut();
    await until('a subscription at another node', () => missed === 2);
    await until('a change', isReceived);
    await Promise.all([listening.close(), publishing.close()]);
  });
});

describe('the change feed over PostgreSQL', () => {
  const applicationName = `feed ${newUuid()}`;
  let database: TestDatabase;
  let operator: Client;
  beforeEach(async () => {
    database = await createTestDatabase();
    operator = new Client({ connectionString: database.url });
    await operator.connect();
  });
  afterEach(async () => {
    await operator.end();
    await database.drop();
  });

  const open = (url: string, onError: (error: Error) => void = () => undefined) =>
    createChangeFeed({ redisUrl: undefined, postgres: connectionSettings({ url, applicationName }), onError });
  /** The server processes of the feed, oldest first. */
  const connections = async () => {
    const { rows } = await operator.query<{ pid: number }>(
      'select pid from pg_stat_activity where application_name = $1 order by backend_start',
      [applicationName],
    );
    return rows.map(({ pid }) => pid);
  };
  const end = async (pid: number | undefined) => {
    await operator.query('select pg_terminate_backend($1)', [pid]);
    await until(`the end of ${pid}`, async () => !(await connections()).includes(pid ?? 0));
  };

  it('publishes many changes at once without a warning of the driver', async () => {
    // In a process of its own: inside Jest a warning cannot be listened for.
    const program = `
      import { createChangeFeed } from '${new URL('./change-feed.ts', import.meta.url).href}';
      const postgres = { connectionString: process.env.DATABASE_URL };
      const feed = createChangeFeed({ redisUrl: undefined, postgres, onError: console.error });
      const changes = Array.from({ length: 20 }, () => ({ kind: 'webhook', id: crypto.randomUUID() }));
      await Promise.all(changes.map((change) => feed.publish(change)));
      await feed.close();`;
    const args = ['--input-type=module', '-e', program];
    const publisher = await spawnGuarded(process.execPath, args, { env: { DATABASE_URL: database.url } });
    expect(await publisher.exited).toMatchObject({ code: 0 });
    expect(publisher.lines).toEqual([]);
  });

  it('listens over one connection and publishes over one, however often it loses them', async () => {
    const feed = open(database.url);
    const received = new EventTarget();
    let missed = 0;
    const onMissed = () => {
      missed += 1;
    };
    await feed.subscribe(({ id }) => received.dispatchEvent(new Event(id)), onMissed);
    for (const times of [2, 3]) {
      await end((await connections())[0]);
      await until(`${times} missed`, () => missed === times);
      expect(await connections()).toHaveLength(1);
    }

    for (const id of [newUuid(), newUuid()]) {
      const delivered = once(received, id);
      await Promise.all([id, newUuid(), newUuid()].map((changed) => feed.publish({ kind: 'webhook', id: changed })));
      await delivered;
      expect(await connections()).toHaveLength(2);
      await end((await connections())[1]);
    }
    await feed.close();
    await until('no connection', async () => (await connections()).length === 0);
  });

  it('leaves no connection behind on which listening gets no answer', async () => {
    const { hostname, port } = new URL(database.url);
    await using proxy = await startFaultProxy({ host: hostname, port: Number(port) });
    const errors: string[] = [];
    const feed = open(throughProxy(database.url, proxy), ({ message }) => errors.push(message));
    proxy.stall('listen', { lasting: true });
    const nothing = () => undefined;
    await feed.subscribe(nothing, nothing);
    expect(errors).toEqual(['Query read timeout']);
    await until('no connection', async () => (await connections()).length === 0);
    await feed.close();
  });

  it('opens no connection once it is closed, and reports that nothing is published', async () => {
    const errors: string[] = [];
    const feed = open(database.url, ({ message }) => errors.push(message));
    const change: Change = { kind: 'webhook', id: newUuid() };
    await feed.publish(change);
    await feed.close();
    await until('no connection', async () => (await connections()).length === 0);
    await feed.publish(change);
    expect(await connections()).toEqual([]);
    expect(errors).toEqual(['The change feed is closed.']);
  });
});
