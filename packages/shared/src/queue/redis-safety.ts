import { Cluster, type Redis } from 'ioredis';
import { connectRedis } from '../redis/index.ts';
import type { QueueBackend } from './backend.ts';

export interface QueueSafety {
  /** Why the process must not start, and how to fix it. Null if it may start. */
  problem: string | null;
  /** Problems for the operator to fix; the process starts anyway. */
  warnings: string[];
}

/** If Redis does not answer, the process still starts: events wait in the outbox, and the relay finds them there. */
const answerWithinMs = 2_000;

/**
 * Checks the queue's Redis before a process starts. The process must not start if Redis refuses our credentials,
 * because waiting would not help. Nor may it start if a full Redis evicts keys, because jobs would silently be lost. A
 * missing append-only file only causes a warning. Without this file, a restart of Redis loses wake-up jobs, which costs
 * only time. But the restart also loses events that only the queue holds.
 */
export async function inspectQueue(backend: QueueBackend): Promise<QueueSafety> {
  if (backend.kind === 'postgres') return { problem: null, warnings: [] };
  const redis = connectRedis(backend.url, {
    lazyConnect: true,
    connectTimeout: answerWithinMs,
    commandTimeout: answerWithinMs,
    maxRetriesPerRequest: 1,
    retryStrategy: () => null,
    sentinelRetryStrategy: () => null,
  });
  let refusal: string | undefined;
  redis.on('error', (error: Error & { lastNodeError?: Error }) => {
    const { message } = error.lastNodeError ?? error;
    if (credentialsRefused.test(message)) refusal = `Redis refused the credentials in REDIS_URL: ${message}`;
    if (formRefused.test(message))
      refusal = `REDIS_URL does not fit this Redis: the kind of server or the name of the master is wrong: ${message}`;
  });
  try {
    await redis.connect();
    const servers = redis instanceof Cluster ? redis.nodes('master') : [redis];
    const found = await Promise.all(servers.map((server) => inspectServer(server, redis.isCluster)));
    const problem = found.map((each) => each.problem).find((each) => each !== null) ?? null;
    return { problem, warnings: [...new Set(found.flatMap(({ warnings }) => warnings))] };
  } catch {
    // The error of connect() only reports a closed connection; `refusal` has the cause.
    if (refusal !== undefined) return { problem: refusal, warnings: [] };
    return { problem: null, warnings: ['Redis does not answer; its settings could not be checked.'] };
  } finally {
    redis.disconnect();
  }
}

async function inspectServer(server: Pick<Redis, 'info'>, asCluster: boolean): Promise<QueueSafety> {
  const mode = /^(?:redis|server)_mode:(\S+)/m.exec(await server.info('server'))?.[1];
  const form = modes[mode ?? 'standalone'];
  if (form !== undefined && !asCluster) {
    return { problem: `REDIS_URL names ${form.what} like a plain server. Write it as ${form.as}`, warnings: [] };
  }
  return judge(await server.info('memory'), await server.info('persistence'));
}

/**
 * Servers that the URL of a single server must not name: a Sentinel keeps no jobs, and a Cluster node refuses most
 * keys.
 */
const modes: Readonly<Record<string, { what: string; as: string }>> = {
  sentinel: { what: 'a Sentinel', as: 'redis+sentinel://host:port,host:port/master-name' },
  cluster: { what: 'a node of a Cluster', as: 'redis+cluster://host:port,host:port' },
};

/** How Redis answers a wrong password, an unknown user or a missing password. Older versions of Redis say ERR. */
const credentialsRefused = /^(NOAUTH|WRONGPASS|ERR (invalid password|.*\bAUTH\b))/;

/** Errors of a server that is neither a Sentinel nor a Cluster node, or of a Sentinel without this master. */
const formRefused =
  /ERR (This instance has cluster support disabled|unknown command .?(cluster|sentinel)\b|No such master)/i;

/** Uses INFO because managed services refuse CONFIG GET. */
function judge(memory: string, persistence: string): QueueSafety {
  const policy = /^maxmemory_policy:(\S+)/m.exec(memory)?.[1];
  if (policy !== undefined && policy !== 'noeviction') {
    return {
      problem: `Redis evicts keys when it is full (maxmemory-policy ${policy}): jobs would be lost. Set: maxmemory-policy noeviction`,
      warnings: [],
    };
  }
  const appends = /^aof_enabled:1/m.test(persistence);
  const warning = 'Redis has no append-only file: its jobs are lost when it restarts. Set: appendonly yes';
  return { problem: null, warnings: appends ? [] : [warning] };
}
