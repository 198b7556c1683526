import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { dropPrivileges } from '../embedded-postgres/account.ts';
import { acceptsConnections } from '../network/accepts-connections.ts';
import { findProgram } from '../processes/find-program.ts';
import { freePort } from '../processes/free-ports.ts';
import { spawnGuarded } from '../processes/guarded-process.ts';
import { createTemporaryFolder } from '../processes/temporary-folder.ts';
import { until } from '../until.ts';

export interface PgBouncer extends AsyncDisposable {
  /** The database, through the pooler. */
  readonly url: string;
}

/** The path of PgBouncer on this machine. */
export function findPgBouncer(): string | undefined {
  return findProgram(['pgbouncer'], process.env.PATH);
}

/**
 * Starts a PgBouncer in transaction mode before a database: a session serves another client after each transaction.
 * Startup parameters of sessions are refused, as by default. The names of its sessions end in the address of the client
 * that they were opened for: ` - 127.0.0.1:12345`.
 *
 * @throws when the program is not installed
 */
export async function startPgBouncer(databaseUrl: string): Promise<PgBouncer> {
  const program = findPgBouncer();
  if (program === undefined) throw new Error('This test starts PgBouncer: install the package pgbouncer.');
  await using building = new AsyncDisposableStack();
  const folder = building.use(createTemporaryFolder('pgbouncer')).path;
  const port = await freePort();
  const file = join(folder, 'pgbouncer.ini');
  await writeFile(file, configuration(new URL(databaseUrl), port), { mode: 0o600 });
  // PgBouncer does not run as root.
  const account = dropPrivileges(folder, file);
  const child = building.use(await spawnGuarded(program, [file], { env: {}, cwd: '/', account, stopSignal: 'SIGINT' }));
  const ended = new AbortController();
  void child.exited.then(() => ended.abort(new Error(`PgBouncer ended:\n${child.lines.slice(-8).join('\n')}`)));
  await until('PgBouncer accepts connections', () => acceptsConnections(port), {
    withinMs: 20_000,
    signal: ended.signal,
  });
  const resources = building.move();
  return { url: throughPort(databaseUrl, port), [Symbol.asyncDispose]: () => resources.disposeAsync() };
}

function configuration(database: URL, port: number): string {
  const target = {
    host: database.hostname,
    port: database.port,
    user: decodeURIComponent(database.username),
    password: decodeURIComponent(database.password),
  };
  const values = Object.entries(target).map(([name, value]) => `${name}='${value}'`);
  return `[databases]
* = ${values.join(' ')}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 30
max_client_conn = 500
application_name_add_host = 1
`;
}

function throughPort(databaseUrl: string, port: number): string {
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${port}`;
  return url.href;
}
