export interface RedisNode {
  host: string;
  port: number;
}

export type RedisAddress =
  | { kind: 'server'; url: string }
  | (Several & { kind: 'sentinel'; masterName: string; sentinelUsername?: string; sentinelPassword?: string })
  | (Several & { kind: 'cluster' });

/** An address with several nodes: the nodes to contact first, and the credentials and TLS for the Redis servers. */
interface Several {
  nodes: RedisNode[];
  username?: string;
  password?: string;
  tls: boolean;
}

/** The scheme names the kind of Redis, so that no second setting can contradict the address. */
export const redisUrlForms =
  'must be redis://host:port, redis+sentinel://host:port,host:port/master-name or redis+cluster://host:port,host:port, each ' +
  'also with user:password@ before the hosts, or as rediss… for TLS';

export const maxPort = 65_535;

const severalNodes = /^redis(s?)\+(sentinel|cluster):\/\/(?:([^:@/]*):([^@/]*)@)?([^@/?]+)(?:\/([^/?]*))?(?:\?(.*))?$/;
const oneNode = /^(\[[\da-fA-F:.]+\]|[\w.-]+):(\d{1,5})$/;

/** @returns the parsed `REDIS_URL`, or undefined if it matches none of {@link redisUrlForms} */
export function parseRedisUrl(text: string): RedisAddress | undefined {
  if (URL.canParse(text) && ['redis:', 'rediss:'].includes(new URL(text).protocol))
    return { kind: 'server', url: text };
  const [, tls, kind, username, password, hosts = '', path, query] = severalNodes.exec(text) ?? [];
  if (kind === undefined) return undefined;
  const nodes = hosts.split(',').map(parseNode);
  if (!nodes.every((node) => node !== undefined)) return undefined;
  try {
    const common = { nodes, tls: tls === 's', ...credentials(username, password) };
    if (kind === 'cluster') return path || query ? undefined : { kind, ...common };
    const rest = sentinelCredentials(query);
    return path && rest ? { kind: 'sentinel', masterName: decodeURIComponent(path), ...common, ...rest } : undefined;
  } catch {
    // `decodeURIComponent` throws if a percent sign encodes nothing.
    return undefined;
  }
}

function parseNode(text: string): RedisNode | undefined {
  const [, host = '', digits] = oneNode.exec(text) ?? [];
  const port = Number(digits);
  return port >= 1 && port <= maxPort ? { host: host.replace(/^\[|\]$/g, ''), port } : undefined;
}

/** The Sentinels' own credentials, which differ from the credentials of the Redis servers. */
function sentinelCredentials(query: string | undefined): Record<string, string> | undefined {
  const values = new URLSearchParams(query);
  const known = ['sentinel_username', 'sentinel_password'];
  if ([...values.keys()].some((name) => !known.includes(name))) return undefined;
  const [username, password] = known.map((name) => values.get(name) ?? undefined);
  return {
    ...(username && { sentinelUsername: username }),
    ...(password && { sentinelPassword: password }),
  };
}

function credentials(username: string | undefined, password: string | undefined) {
  return {
    ...(username && { username: decodeURIComponent(username) }),
    ...(password && { password: decodeURIComponent(password) }),
  };
}
