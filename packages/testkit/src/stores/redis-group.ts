import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort } from '../processes/free-ports.ts';
import { createTemporaryFolder } from '../processes/temporary-folder.ts';
import { until } from '../until.ts';
import { type RedisServer, type StartRedisOptions, startRedis } from './redis.ts';

/** Servers of Redis of which one takes the place of another. */
export interface RedisGroup extends AsyncDisposable {
  /** The value of `REDIS_URL`. */
  readonly url: string;
  /** SIGKILL to the server that holds a key; resolves once another one holds it. The killed one stays down. */
  killMasterOf(key: string): Promise<void>;
}

export interface RedisGroupOptions extends Pick<StartRedisOptions, 'settings'> {
  /** Files, PEM, with which the servers speak TLS to each other, and to clients at the URL. */
  tls?: { certificate: string; key: string; ca: string };
}

/** In milliseconds; long enough for a machine that stalls, and short for a test that waits for the failover. */
const downAfterMs = '3000';
const takesOverWithinMs = 60_000;

/** Starts a Cluster: three masters with a third of the slots each, and a replica for each. */
export async function startRedisCluster(options: RedisGroupOptions = {}): Promise<RedisGroup> {
  await using building = new AsyncDisposableStack();
  const start = async () =>
    building.use(
      await startNode(options.tls, {
        'cluster-enabled': 'yes',
        'cluster-node-timeout': downAfterMs,
        // By default it is the port and 10,000, which another test may have.
        'cluster-port': String(await freePort()),
        ...options.settings,
      }),
    );
  const servers = await Promise.all(Array.from({ length: 6 }, start));
  const password = options.settings?.requirepass;
  const clients = building.use(openClients(servers, password));
  await makeCluster(
    clients.all,
    servers.map(({ clientPort }) => clientPort),
  );
  const resources = building.move();
  return {
    url: `${schemeOf(options)}+cluster://${password === undefined ? '' : `:${password}@`}${servers.map(addressOf).join(',')}`,
    killMasterOf: async (key) => {
      const before = await portOfKey(clients.all, key);
      await servers.find(({ port }) => port === before)?.crash();
      await until('another master', () => portOfKey(clients.all, key), {
        holds: (port) => port !== undefined && port !== before,
        withinMs: takesOverWithinMs,
      });
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

/** Starts a master, a replica, and a Sentinel that watches both. */
export async function startRedisWithSentinel(options: RedisGroupOptions = {}): Promise<RedisGroup> {
  await using building = new AsyncDisposableStack();
  const { settings, tls } = options;
  const master = building.use(await startNode(tls, { ...settings }));
  const replicaof = `127.0.0.1 ${master.clientPort}`;
  const replica = building.use(await startNode(tls, { ...settings, replicaof }));
  const folder = building.use(createTemporaryFolder('sentinel')).path;
  const file = join(folder, 'sentinel.conf');
  const watch = `sentinel monitor main 127.0.0.1 ${master.clientPort} 1
sentinel down-after-milliseconds main ${downAfterMs}
sentinel failover-timeout main 10000
`;
  await writeFile(file, watch);
  const sentinel = building.use(await startNode(tls, {}, { file, folder }));
  const clients = building.use(openClients([sentinel, replica]));
  const [watcher, follower] = clients.all as [Redis, Redis];
  // The master waits for 5 s before it sends the first copy, so that other replicas can share it.
  const follows = async () => (await follower.info('replication')).includes('link_status:up');
  await until('the replica follows', follows, { withinMs: 30_000 });
  // A Sentinel learns of replicas by asking the master now and then.
  const replicas = () => watcher.call('SENTINEL', 'replicas', 'main') as Promise<unknown[]>;
  await until('the Sentinel knows the replica', replicas, { holds: ({ length }) => length === 1, withinMs: 30_000 });
  const resources = building.move();
  return {
    url: `${schemeOf(options)}+sentinel://${addressOf(sentinel)}/main`,
    killMasterOf: async () => {
      await master.crash();
      const role = async () => (await follower.info('replication')).includes('role:master');
      await until('another master', role, { withinMs: takesOverWithinMs });
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

/** A server, with the port that the group's clients and its other servers use. */
type Node = RedisServer & { clientPort: number };

/** With TLS it listens without TLS as well, for the helpers of this file. */
async function startNode(
  tls: RedisGroupOptions['tls'],
  settings: Readonly<Record<string, string>>,
  options: StartRedisOptions = {},
): Promise<Node> {
  if (tls === undefined) {
    const server = await startRedis({ ...options, settings });
    return { ...server, clientPort: server.port };
  }
  const clientPort = await freePort();
  const files = { 'tls-cert-file': tls.certificate, 'tls-key-file': tls.key, 'tls-ca-cert-file': tls.ca };
  const use = { 'tls-auth-clients': 'no', 'tls-replication': 'yes', 'tls-cluster': 'yes' };
  const server = await startRedis({
    ...options,
    settings: { ...files, ...use, 'tls-port': String(clientPort), ...settings },
  });
  return { ...server, clientPort };
}

function schemeOf({ tls }: RedisGroupOptions): string {
  return tls === undefined ? 'redis' : 'rediss';
}

function addressOf({ clientPort }: Node): string {
  return `127.0.0.1:${clientPort}`;
}

function openClients(servers: readonly RedisServer[], password?: string) {
  const options = { maxRetriesPerRequest: 1, ...(password !== undefined && { password }) };
  const all = servers.map(({ url }) => new Redis(url, options));
  for (const client of all) client.on('error', () => undefined);
  const end = async () => {
    for (const client of all) client.disconnect();
  };
  return { all, [Symbol.asyncDispose]: end };
}

const slotCount = 16_384;

/** Makes a Cluster of six nodes that know nothing of each other. */
async function makeCluster(nodes: readonly Redis[], ports: readonly number[]): Promise<void> {
  const [first, ...others] = nodes as [Redis, ...Redis[]];
  const masters = nodes.slice(0, 3);
  for (const [index, master] of masters.entries()) {
    const [from, to] = [index, index + 1].map((share) => Math.floor((share * slotCount) / 3)) as [number, number];
    await master.call('CLUSTER', 'ADDSLOTSRANGE', from, to - 1);
  }
  for (const [index, other] of others.entries()) {
    await first.call('CLUSTER', 'MEET', '127.0.0.1', ports[index + 1] ?? 0, await busPort(other));
  }
  const known = async (node: Redis) => ((await node.call('CLUSTER', 'NODES')) as string).trim().split('\n').length;
  const all = { holds: (counts: number[]) => counts.every((count) => count === 6), withinMs: 60_000 };
  await until('nodes that know each other', () => Promise.all(nodes.map(known)), all);
  for (const [index, replica] of nodes.slice(3).entries()) {
    const id = (await masters[index]?.call('CLUSTER', 'MYID')) as string;
    await until('a replica', () => replica.call('CLUSTER', 'REPLICATE', id), { withinMs: 30_000 });
  }
  // A master takes over only what it has a copy of, and the nodes must have agreed on all slots.
  const isReady = async (node: Redis) =>
    ((await node.call('CLUSTER', 'INFO')) as string).includes('cluster_state:ok') &&
    !(await node.info('replication')).includes('link_status:down') &&
    ((await node.call('CLUSTER', 'NODES')) as string).match(/\bslave\b/g)?.length === 3;
  const ready = { holds: (states: boolean[]) => states.every(Boolean), withinMs: 60_000 };
  await until('a Cluster that serves', () => Promise.all(nodes.map(isReady)), ready);
}

async function busPort(node: Redis): Promise<number> {
  const [, port] = (await node.config('GET', 'cluster-port')) as [string, string];
  return Number(port);
}

/** The port of the node that serves a key, as most nodes that answer see it. */
async function portOfKey(nodes: readonly Redis[], key: string): Promise<number | undefined> {
  const seen = await Promise.all(nodes.map((node) => seenBy(node, key).catch(() => undefined)));
  const counts = Map.groupBy(
    seen.filter((port) => port !== undefined),
    (port) => port,
  );
  return [...counts].sort(([, some], [, others]) => others.length - some.length)[0]?.[0];
}

async function seenBy(node: Redis, key: string): Promise<number | undefined> {
  const slot = await node.cluster('KEYSLOT', key);
  const ranges = await node.cluster('SLOTS');
  return ranges.find(([from, to]) => from <= slot && slot <= to)?.[2]?.[1];
}
