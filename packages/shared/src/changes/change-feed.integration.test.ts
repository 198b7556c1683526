import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { newUuid } from '../runtime/ids.ts';
import { type FaultProxy, type RedisServer, startFaultProxy, startRedis, throughProxy } from '../testing/index.ts';
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

  it('says that changes may have been missed once it hears again', async () => {
    const publishing = open(redis.url);
    const listening = open(throughProxy(redis.url, proxy));
    const changes: Change[] = [];
    const heard = new EventTarget();
    const missed = new EventTarget();
    const onChange = (change: Change) => {
      changes.push(change);
      heard.dispatchEvent(new Event('change'));
    };
    const subscribed = once(missed, 'missed');
    await listening.subscribe(onChange, () => missed.dispatchEvent(new Event('missed')));
    await subscribed;

    const again = once(missed, 'missed');
    proxy.reset();
    await again;
    const change: Change = { kind: 'webhook', id: newUuid() };
    const told = once(heard, 'change');
    await publishing.publish(change);
    await told;
    expect(changes).toEqual([change]);
  });

  it('can be closed in the middle of subscribing again', async () => {
    const feed = open(throughProxy(redis.url, proxy));
    const subscribed = Promise.withResolvers<void>();
    await feed.subscribe(() => undefined, subscribed.resolve);
    await subscribed.promise;
    const before = await subscribers();
    expect(before).toHaveLength(1);

    proxy.deafen('subscribe', { lasting: true });
    proxy.reset();
    await untilTrue(async () => {
      const [now] = await subscribers();
      return now !== undefined && now !== before[0];
    });
    // A promise that nobody catches ends a process, and fails this test.
    await feed.close();
    await untilTrue(async () => (await subscribers()).length === 0);
    expect(errors.map(({ message }) => message)).not.toContain('Connection is closed.');
  });
});

async function untilTrue(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await pause(10);
}
