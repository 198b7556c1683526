import { describe, expect, it } from '@jest/globals';
import { parseRedisUrl } from './redis-address.ts';

describe('REDIS_URL', () => {
  it.each(['redis://localhost:6379/2', 'rediss://user:p%40ss@redis.internal:6380'])('%s is a server', (url) => {
    expect(parseRedisUrl(url)).toEqual({ kind: 'server', url });
  });

  it('names Sentinels and the master that they watch', () => {
    expect(
      parseRedisUrl('rediss+sentinel://app:p%40s%2Fs@a.internal:26379,[::1]:26380/my%20master?sentinel_password=x%26y'),
    ).toEqual({
      kind: 'sentinel',
      nodes: [
        { host: 'a.internal', port: 26_379 },
        { host: '::1', port: 26_380 },
      ],
      masterName: 'my master',
      tls: true,
      username: 'app',
      password: 'p@s/s',
      sentinelPassword: 'x&y',
    });
  });

  it('names nodes of a Cluster', () => {
    expect(parseRedisUrl('redis+cluster://:secret@a:7000,b:7001')).toEqual({
      kind: 'cluster',
      nodes: [
        { host: 'a', port: 7_000 },
        { host: 'b', port: 7_001 },
      ],
      tls: false,
      password: 'secret',
    });
  });

  it.each([
    ['another scheme', 'http://a:1'],
    ['an unknown form', 'redis+ring://a:1'],
    ['no master name', 'redis+sentinel://a:1,b:2'],
    ['an empty master name', 'redis+sentinel://a:1/'],
    ['an unknown parameter', 'redis+sentinel://a:1/m?db=1'],
    ['a database of a Cluster', 'redis+cluster://a:1/1'],
    ['a node without a port', 'redis+cluster://a,b:1'],
    ['a port that cannot be', 'redis+cluster://a:70000'],
    ['an empty node', 'redis+cluster://a:1,'],
    ['a percent sign that encodes nothing', 'redis+cluster://:%zz@a:1'],
    ['several servers without a form', 'redis://a:1,b:2'],
    ['no host', 'redis+cluster://'],
  ])('with %s is refused', (_what, url) => {
    expect(parseRedisUrl(url)).toBeUndefined();
  });
});
