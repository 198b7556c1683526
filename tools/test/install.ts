import { spawnSync } from 'node:child_process';
import { spawnGuarded } from '@enterprise-api/testkit';

/** What a search for a program may use. */
export interface SearchOptions {
  env: Readonly<Record<string, string | undefined>>;
  say: (line: string) => void;
  signal: AbortSignal;
}

// A policy-rc.d that exits with 101 prevents packages from starting their own servers.
const installScript = `
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  trap 'rm -f "$policy"' EXIT
  printf '#!/bin/sh\\nexit 101\\n' >"$policy" && chmod 755 "$policy"
fi
export DEBIAN_FRONTEND=noninteractive
options='-o DPkg::Lock::Timeout=60 -o Acquire::Retries=2 -o Acquire::http::Timeout=30'
apt-get $options update
apt-get $options install --yes --no-install-recommends "$@"
`;

/**
 * Installs packages with apt-get, when this machine has it and permits it.
 *
 * @returns what went wrong; meaningless when the packages are there afterwards
 */
export async function installPackages(packages: readonly string[], options: SearchOptions): Promise<string> {
  const { env, say, signal } = options;
  const names = packages.join(' and ');
  const sh = ['/bin/sh', '-c', installScript, 'install', ...packages];
  const command = canRun('apt-get', '--version') ? asRoot(sh) : undefined;
  if (command === undefined) return `There is no ${names} on the PATH, and no permission to install with apt-get.`;
  say(`No ${names} on the PATH: installing with apt-get …`);
  const [program = '/bin/sh', ...args] = command;
  const install = await spawnGuarded(program, args, { env, cwd: '/', signal });
  await install.exited;
  signal.throwIfAborted();
  return `apt-get could not install ${names}. Its last lines:\n${install.lines.slice(-8).join('\n')}`;
}

/** The command with root's permissions: unchanged for root, through sudo when sudo asks for no password. */
function asRoot(command: string[]): string[] | undefined {
  if (process.getuid?.() === 0) return command;
  return canRun('sudo', '-n', 'true') ? ['sudo', '-n', ...command] : undefined;
}

function canRun(program: string, ...args: string[]): boolean {
  return spawnSync(program, args, { stdio: 'ignore' }).status === 0;
}
