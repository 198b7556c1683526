import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { parseRedisUrl, type RedisAddress, redisUrlForms } from '../runtime/redis-address.ts';

export type RedisClient = Redis | Cluster;

/** ioredis's options, without those that change the types of its answers. */
export type RedisClientOptions = Omit<RedisOptions, 'replyMapping' | 'himportFieldsets'>;

/** ioredis asks a Cluster for its slots at this interval, so that a failover is noticed without a failed command. */
const slotsRefreshMs = 5_000;

/**
 * How long Redis may take to close its side of a connection that we closed. A short time suffices, because we await no
 * more answers.
 */
export const disconnectTimeout = 100;

/**
 * Connects to the Redis that `REDIS_URL` names.
 *
 * @param options ioredis's options. In a Cluster, `retryStrategy` applies to the whole Cluster, not to each node
 */
export function connectRedis(url: string, options: RedisClientOptions = {}): RedisClient {
  const address = redisAddress(url);
  if (address.kind === 'cluster') return connectCluster(address, options);
  return address.kind === 'server'
    ? new Redis(address.url, options)
    : new Redis({ ...sentinelOptions(address), ...options });
}

/** @throws if the URL is not valid for `REDIS_URL`. The settings check refuses such a URL earlier */
export function redisAddress(url: string): RedisAddress {
  const address = parseRedisUrl(url);
  if (address === undefined) throw new Error(`REDIS_URL: ${redisUrlForms}`);
  return address;
}

function sentinelOptions(address: Extract<RedisAddress, { kind: 'sentinel' }>): RedisClientOptions {
  const { kind: _kind, nodes, masterName, tls, ...credentials } = address;
  return {
    sentinels: nodes,
    name: masterName,
    ...credentials,
    ...(tls && { tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true }),
  };
}

function connectCluster(address: Extract<RedisAddress, { kind: 'cluster' }>, options: RedisClientOptions): Cluster {
  const { retryStrategy, enableOfflineQueue, enableAutoPipelining, lazyConnect, ...perNode } = options;
  return new Cluster(address.nodes, {
    ...(retryStrategy !== undefined && { clusterRetryStrategy: retryStrategy }),
    ...(enableOfflineQueue !== undefined && { enableOfflineQueue }),
    ...(enableAutoPipelining !== undefined && { enableAutoPipelining }),
    ...(lazyConnect !== undefined && { lazyConnect }),
    slotsRefreshInterval: slotsRefreshMs,
    // Keep host names, because certificates are issued for them; the socket resolves them.
    dnsLookup: (host, callback) => callback(null, host),
    redisOptions: { ...perNode, ...nodeOptions(address) },
  });
}

export function nodeOptions({
  tls,
  username,
  password,
}: Extract<RedisAddress, { kind: 'cluster' }>): RedisClientOptions {
  return {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(tls && { tls: {} }),
  };
}
