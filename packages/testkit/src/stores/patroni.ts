import { globSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { dropPrivileges } from '../embedded-postgres/account.ts';
import { role } from '../embedded-postgres/data-folder.ts';
import { clearLeftovers } from '../embedded-postgres/postmaster.ts';
import { acceptsConnections } from '../network/accepts-connections.ts';
import { findProgram } from '../processes/find-program.ts';
import { freePort } from '../processes/free-ports.ts';
import { type GuardedProcess, spawnGuarded } from '../processes/guarded-process.ts';
import { createTemporaryFolder } from '../processes/temporary-folder.ts';
import { until } from '../until.ts';
import { haproxyConfiguration, type PatroniNode } from './patroni-files.ts';
import { createNodes, quitServer } from './patroni-nodes.ts';
import { ensureDatabase } from './test-database.ts';

/** Two servers of PostgreSQL that Patroni keeps available, with etcd and HAProxy. */
export interface PatroniCluster extends AsyncDisposable {
  /** PostgreSQL's major version. */
  readonly version: string;
  /** The database at whichever server is the leader, through HAProxy. */
  readonly url: string;
  /** The database at the replica, through HAProxy. */
  readonly replicaUrl: string;
  /** The name of the leader; undefined while there is none. */
  leader(): Promise<string | undefined>;
  /** SIGKILL to the leader's PostgreSQL and its Patroni, as when its machine is lost. @returns its name */
  killLeader(): Promise<string>;
  /** Starts a killed server again; it then follows the leader. */
  restart(name: string): Promise<void>;
  /** Has the other server become the leader, as an operator does. Resolves when it is. */
  switchOver(): Promise<void>;
  /** From here on the replica gets nothing any more from this leader, as over a slow network; for asynchronous replication. */
  pauseReplication(): Promise<void>;
  /** Waits until the other server follows the leader; with synchronous replication, until commits wait for it. */
  untilReplicated(): Promise<void>;
}

interface Programs {
  patroni: string;
  etcd: string;
  haproxy: string;
  /** The folder of PostgreSQL's programs. */
  postgres: string;
}

/** Where this machine has Patroni, etcd, HAProxy and PostgreSQL's own programs; undefined when one of them is missing. */
export function findPatroniPrograms(): Programs | undefined {
  const find = (name: string) => findProgram([name], process.env.PATH);
  const [patroni, etcd, haproxy] = [find('patroni'), find('etcd'), find('haproxy')];
  const postgres = globSync('/usr/lib/postgresql/*/bin/pg_rewind').sort().at(-1);
  if (!patroni || !etcd || !haproxy || !postgres) return undefined;
  return { patroni, etcd, haproxy, postgres: dirname(postgres) };
}

/**
 * Starts both servers and waits until one replicates to the other.
 *
 * @param synchronous whether a commit waits for the replica
 * @throws when one of the programs is not installed
 */
export async function startPatroni({ synchronous }: { synchronous: boolean }): Promise<PatroniCluster> {
  const programs = findPatroniPrograms();
  if (programs === undefined) throw new Error('Install the packages patroni, etcd-server, haproxy and postgresql.');
  await using building = new AsyncDisposableStack();
  const folder = building.use(createTemporaryFolder('patroni')).path;
  const nodes = [await newNode('one'), await newNode('two')] as const;
  // A Patroni that was killed leaves its PostgreSQL, which has a session of its own.
  building.defer(async () => {
    for (const { name } of nodes) await clearLeftovers(join(folder, name), () => undefined);
  });
  building.use(
    atExit(() => {
      for (const { name } of nodes) quitServer(join(folder, name));
    }),
  );
  const { run, stop } = createRunner(folder);
  building.defer(stop);
  const etcdPort = await startEtcd(programs.etcd, folder, run);
  const settings = { folder, programs: programs.postgres, etcdPort, password: 'patroni-test-password', synchronous };
  const cluster = createNodes(nodes, settings, (file) => run(programs.patroni, [file]));
  await cluster.startAll();
  const ports = { leader: await freePort(), replicas: await freePort() };
  const file = join(folder, 'haproxy.cfg');
  await writeFile(file, haproxyConfiguration(nodes, ports));
  await run(programs.haproxy, ['-db', '-f', file]);
  const urlAt = (port: number, name: string) => `postgresql://${role}:${settings.password}@127.0.0.1:${port}/${name}`;
  const create = () => ensureDatabase(urlAt(ports.leader, 'postgres'), 'faults').then(() => true);
  await until('the leader answers through HAProxy', create, { withinMs: 60_000, everyMs: 500 });
  const resources = building.move();
  return {
    version: basename(dirname(programs.postgres)),
    url: urlAt(ports.leader, 'faults'),
    replicaUrl: urlAt(ports.replicas, 'faults'),
    ...cluster,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

/** Does something when this process exits before the end, on a Ctrl-C for example; before the folders go. */
function atExit(act: () => void): Disposable {
  process.prependOnceListener('exit', act);
  return { [Symbol.dispose]: () => void process.off('exit', act) };
}

const environment = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C.UTF-8', HOME: '/tmp' };

async function newNode(name: string): Promise<PatroniNode> {
  return { name, port: await freePort(), restPort: await freePort() };
}

type Run = (program: string, args: readonly string[]) => Promise<GuardedProcess>;

/** Starts programs as the user of PostgreSQL, and stops them, the latest first: a Patroni that stops needs its etcd. */
function createRunner(folder: string): { run: Run; stop: () => Promise<void> } {
  const account = dropPrivileges(folder);
  const started: GuardedProcess[] = [];
  return {
    run: async (program, args) => {
      const child = await spawnGuarded(program, args, { env: environment, cwd: folder, account });
      started.push(child);
      return child;
    },
    stop: async () => {
      for (const child of started.reverse()) await child.stop();
    },
  };
}

async function startEtcd(program: string, folder: string, run: Run): Promise<number> {
  const [port, peerPort] = [await freePort(), await freePort()];
  const [url, peerUrl] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${peerPort}`];
  const options = {
    'data-dir': join(folder, 'etcd'),
    'listen-client-urls': url,
    'advertise-client-urls': url,
    'listen-peer-urls': peerUrl,
    'initial-advertise-peer-urls': peerUrl,
    'initial-cluster': `default=${peerUrl}`,
    // For a machine whose disk is slow at times.
    'heartbeat-interval': '500',
    'election-timeout': '5000',
  };
  await run(
    program,
    Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]),
  );
  await until('etcd accepts connections', () => acceptsConnections(port), { withinMs: 30_000 });
  return port;
}
