import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { acceptsConnections } from '../network/accepts-connections.ts';
import { findProgram } from '../processes/find-program.ts';
import { type GuardedProcess, spawnGuarded } from '../processes/guarded-process.ts';
import { until } from '../until.ts';

/** The HTTP servers in front of the product that tests run, by the names of their programs and Debian packages. */
export const ingressNames = ['nginx', 'caddy'] as const;
export type IngressName = (typeof ingressNames)[number];

export interface StartIngressOptions {
  /** A Caddyfile, or for nginx what stands inside `http { … }`. */
  config: string;
  /** The port of 127.0.0.1 on which the configuration listens. */
  port: number;
  /** More environment, for a configuration that reads it. */
  env?: Readonly<Record<string, string>>;
}

export interface Ingress extends AsyncDisposable {
  readonly name: IngressName;
  readonly port: number;
  readonly process: GuardedProcess;
  stop(): Promise<void>;
}

/** The path of an ingress on this machine. */
export function findIngress(name: IngressName): string | undefined {
  return findProgram([name], process.env.PATH);
}

/**
 * Starts nginx or Caddy in the foreground, without privileges and with all its files in a folder of its own, and waits
 * until it accepts connections.
 *
 * @throws when the program is not installed, or with its output when it refuses the configuration
 */
export async function startIngress(name: IngressName, options: StartIngressOptions): Promise<Ingress> {
  const program = findIngress(name);
  if (program === undefined) throw new Error(`This test starts ${name}: install the package ${name}.`);
  await using building = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), `enterprise-api-${name}-`));
  building.defer(() => rm(folder, { recursive: true, force: true }));
  // Started by root, nginx works as another user, who must reach the folder.
  await chmod(folder, 0o711);
  const { args, env } = await commands[name](folder, options.config);
  const child = building.use(
    await spawnGuarded(program, args, { cwd: folder, env: { PATH: process.env.PATH, ...env, ...options.env } }),
  );
  await untilListening(name, options.port, child);
  const resources = building.move();
  const stop = () => resources.disposeAsync();
  return { name, port: options.port, process: child, stop, [Symbol.asyncDispose]: stop };
}

interface Command {
  args: string[];
  env: Record<string, string>;
}

const commands: Record<IngressName, (folder: string, config: string) => Promise<Command>> = {
  nginx: async (folder, config) => {
    const file = join(folder, 'nginx.conf');
    await writeFile(file, nginxFile(folder, config));
    return { args: ['-e', 'stderr', '-p', folder, '-c', file, '-g', 'daemon off;'], env: {} };
  },
  caddy: async (folder, config) => {
    const file = join(folder, 'Caddyfile');
    await writeFile(file, config);
    const args = ['run', '--config', file, '--adapter', 'caddyfile'];
    // Without CADDY_ADMIN two Caddys on one machine would want the same port for their administration.
    return { args, env: { HOME: folder, XDG_DATA_HOME: folder, CADDY_ADMIN: `unix/${join(folder, 'admin.sock')}` } };
  },
};

/** What a package's nginx.conf has around the sites, with every file in the folder. */
function nginxFile(folder: string, sites: string): string {
  const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return `
    worker_processes 1;
    pid ${folder}/nginx.pid;
    error_log stderr warn;
    events { worker_connections 1024; }
    http {
      access_log off;
      ${kinds.map((kind) => `${kind}_temp_path ${folder}/${kind};`).join('\n      ')}
      ${sites}
    }
  `;
}

async function untilListening(name: IngressName, port: number, child: GuardedProcess): Promise<void> {
  const ended = new AbortController();
  void child.exited.then(() => ended.abort(new Error(`${name} ended:\n${child.lines.slice(-15).join('\n')}`)));
  await until(`${name} accepts connections`, () => acceptsConnections(port), {
    withinMs: 20_000,
    signal: ended.signal,
  });
}
