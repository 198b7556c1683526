import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { parseRedisUrl, type RedisAddress, redisUrlForms } from '../runtime/redis-address.ts';

/** A connection to a server, to the master that Sentinels name, or to the nodes of a Cluster. */
export type RedisClient = Redis | Cluster;

/** ioredis's options, without those that change the types of its answers. */
export type RedisClientOptions = Omit<RedisOptions, 'replyMapping' | 'himportFieldsets'>;

/** After this long the slots are asked for again: a failover is then known without a command that fails. */
const slotsRefreshMs = 5_000;

/**
 * Connects to the Redis that `REDIS_URL` names.
 *
 * @param options ioredis's, with `retryStrategy` for the whole connection, whatever it consists of
 */
export function connectRedis(url: string, options: RedisClientOptions = {}): RedisClient {
  const address = redisAddress(url);
  if (address.kind === 'cluster') return connectCluster(address, options);
  return address.kind === 'server'
    ? new Redis(address.url, options)
    : new Redis({ ...sentinelOptions(address), ...options });
}

/** @throws when the URL has none of the forms of `REDIS_URL`; settings have been checked for this */
export function redisAddress(url: string): RedisAddress {
  const address = parseRedisUrl(url);
  if (address === undefined) throw new Error(`REDIS_URL: ${redisUrlForms}`);
  return address;
}

/** What ioredis must know to find the master. */
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
    // Names stay names, which is what certificates are made for; the socket resolves them.
    dnsLookup: (host, callback) => callback(null, host),
    redisOptions: { ...perNode, ...nodeOptions(address) },
  });
}

/** What each node of a Cluster is told. */
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
