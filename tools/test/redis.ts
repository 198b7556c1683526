import { spawnSync } from 'node:child_process';
import { askRedis, findRedisProgram, spawnGuarded } from '@enterprise-api/testkit';

/** How the tests get a Redis. */
export type RedisSource =
  | { kind: 'given'; url: string }
  | { kind: 'program'; path: string }
  | { kind: 'none'; problem: string; advice: string };

export interface FindRedisOptions {
  /** `REDIS_URL`, when it is set. */
  givenUrl: string | undefined;
  env: Readonly<Record<string, string | undefined>>;
  say: (line: string) => void;
  signal: AbortSignal;
}

const advice =
  'Install redis-server or valkey-server (Debian, Ubuntu: sudo apt-get install redis-server; ' +
  'macOS: brew install redis), or set REDIS_URL to a running one.';

/** The Redis at REDIS_URL; else a program on the PATH; else one installed with apt-get, when permitted; else advice. */
export async function findRedis(options: FindRedisOptions): Promise<RedisSource> {
  if (options.givenUrl !== undefined) return await checkGiven(options.givenUrl);
  const present = findRedisProgram();
  if (present !== undefined) return { kind: 'program', path: present };
  const problem = await installRedis(options);
  const installed = findRedisProgram();
  if (installed !== undefined) return { kind: 'program', path: installed };
  return { kind: 'none', problem, advice };
}

async function checkGiven(url: string): Promise<RedisSource> {
  const problem = await askRedis(url);
  if (problem === undefined) return { kind: 'given', url };
  return { kind: 'none', problem: `REDIS_URL is set, but Redis does not answer there: ${problem}.`, advice };
}

// A policy-rc.d that exits with 101 prevents the package from starting its own server.
const installScript = `
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  trap 'rm -f "$policy"' EXIT
  printf '#!/bin/sh\\nexit 101\\n' >"$policy" && chmod 755 "$policy"
fi
export DEBIAN_FRONTEND=noninteractive
options='-o DPkg::Lock::Timeout=60 -o Acquire::Retries=2 -o Acquire::http::Timeout=30'
apt-get $options update
apt-get $options install --yes --no-install-recommends redis-server
`;

async function installRedis({ env, say, signal }: FindRedisOptions): Promise<string> {
  const sh = ['/bin/sh', '-c', installScript];
  const command = canRun('apt-get', '--version') ? asRoot(sh) : undefined;
  if (command === undefined) return 'There is no Redis on the PATH, and no permission to install one with apt-get.';
  say('No Redis on the PATH: installing redis-server with apt-get …');
  const [program = '/bin/sh', ...args] = command;
  const install = await spawnGuarded(program, args, { env, cwd: '/', signal });
  await install.exited;
  signal.throwIfAborted();
  return `apt-get installed no Redis. Its last lines:\n${install.lines.slice(-8).join('\n')}`;
}

/** The command with root's permissions: unchanged for root, through sudo when sudo asks for no password. */
function asRoot(command: string[]): string[] | undefined {
  if (process.getuid?.() === 0) return command;
  return canRun('sudo', '-n', 'true') ? ['sudo', '-n', ...command] : undefined;
}

function canRun(program: string, ...args: string[]): boolean {
  return spawnSync(program, args, { stdio: 'ignore' }).status === 0;
}
