import { role } from '../embedded-postgres/data-folder.ts';

/** One server of PostgreSQL that a Patroni runs. */
export interface PatroniNode {
  name: string;
  port: number;
  /** Of Patroni's REST interface. */
  restPort: number;
}

/** What the configurations of a cluster have in common. */
export interface PatroniSettings {
  folder: string;
  /** The folder of PostgreSQL's programs. */
  programs: string;
  etcdPort: number;
  password: string;
  /** Whether a commit waits for a replica. */
  synchronous: boolean;
}

/** Patroni's least: a leader that is gone is replaced after about as many seconds. */
const leaderExpiresAfterSeconds = 20;

/** Patroni's configuration of a node. JSON, which is YAML as well. */
export function patroniConfiguration({ name, port, restPort }: PatroniNode, settings: PatroniSettings): string {
  const { folder, programs, etcdPort, password, synchronous } = settings;
  const account = (username: string) => ({ username, password });
  return JSON.stringify({
    scope: 'enterprise-api',
    name,
    restapi: { listen: `127.0.0.1:${restPort}`, connect_address: `127.0.0.1:${restPort}` },
    etcd3: { host: `127.0.0.1:${etcdPort}` },
    bootstrap: {
      dcs: {
        ttl: leaderExpiresAfterSeconds,
        loop_wait: 2,
        retry_timeout: 5,
        maximum_lag_on_failover: 16 * 1024 * 1024,
        synchronous_mode: synchronous,
        postgresql: {
          use_pg_rewind: true,
          parameters: { max_connections: 200, wal_keep_size: '256MB', timezone: 'UTC', log_timezone: 'UTC' },
        },
      },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }, 'data-checksums'],
    },
    postgresql: {
      listen: `127.0.0.1:${port}`,
      connect_address: `127.0.0.1:${port}`,
      data_dir: `${folder}/${name}`,
      bin_dir: programs,
      pgpass: `${folder}/${name}.pgpass`,
      authentication: { superuser: account(role), replication: account('replicator'), rewind: account('rewinder') },
      parameters: { unix_socket_directories: '' },
      pg_hba: ['host all all 127.0.0.1/32 scram-sha-256', 'host replication all 127.0.0.1/32 scram-sha-256'],
    },
  });
}

/** HAProxy's configuration: a port that leads to the leader, and one that leads to replicas, as docs/operators/high-availability.md has it. */
export function haproxyConfiguration(
  nodes: readonly PatroniNode[],
  ports: { leader: number; replicas: number },
): string {
  const servers = nodes.map(({ name, port, restPort }) => `  server ${name} 127.0.0.1:${port} check port ${restPort}`);
  const listen = (name: string, port: number, path: string) => `listen ${name}
  bind 127.0.0.1:${port}
  option httpchk GET ${path}
  http-check expect status 200
${servers.join('\n')}
`;
  return `defaults
  mode tcp
  timeout connect 2s
  timeout check 2s
  timeout client 30m
  timeout server 30m
  option clitcpka
  option srvtcpka
  default-server inter 1s fall 2 rise 1 on-marked-down shutdown-sessions
${listen('leader', ports.leader, '/primary')}${listen('replicas', ports.replicas, '/replica')}`;
}
