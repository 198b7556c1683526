import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const project = fileURLToPath(new URL('../../', import.meta.url));
const execute = promisify(execFile);

type Environment = Readonly<Record<string, string>>;

/** A folder outside of this workspace, as somebody else has it who installs one of our packages. */
export interface EmptyFolder {
  readonly path: string;
  /** Packs a package of this workspace into the folder; returns the path of its tarball. */
  pack(name: string): Promise<string>;
  /** `npm install` of tarballs and packages. */
  install(...packages: string[]): Promise<void>;
  /** Runs our Node.js in the folder; resolves with what it printed. */
  node(args: string[], env?: Environment): Promise<string>;
  /** `npx` of a program that is installed in the folder, with our Node.js; resolves with what it printed. */
  npx(args: string[], env?: Environment): Promise<string>;
  /** Our compiler; resolves with its complaints, which reject it. */
  tsc(...args: string[]): Promise<string>;
  remove(): void;
}

export function createEmptyFolder(): EmptyFolder {
  const path = mkdtempSync(join(tmpdir(), 'enterprise-api-consumer-'));
  writeFileSync(join(path, 'package.json'), '{ "name": "consumer", "private": true, "type": "module" }\n');
  const run = async (program: string, args: string[], env: Environment = {}): Promise<string> => {
    const { stdout } = await execute(program, args, { cwd: path, env: { ...environment, ...env } }).catch(withOutput);
    return stdout.trim();
  };
  const node: EmptyFolder['node'] = (args, env) => run(process.execPath, args, env);
  return {
    path,
    pack: (name) => node([join(project, 'tools/pack/main.ts'), name, path]),
    install: async (...packages) => {
      const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'];
      await run('npm', ['install', ...quiet, ...packages]);
    },
    node,
    npx: (args, env) => run('npx', ['--no', '--', ...args], env),
    tsc: (...args) => node([join(project, 'node_modules/typescript/bin/tsc'), ...args]),
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
}

/** What the consumer's own machine would have: our Node, npm, and nothing that tells npm about this workspace. */
const environment = Object.fromEntries(
  Object.entries({
    ...process.env,
    NODE_ENV: undefined,
    PATH: [join(project, 'node_modules/.bin'), process.env.PATH].join(delimiter),
  }).filter(([name]) => !name.toLowerCase().startsWith('npm_')),
);

/** What a program printed says why it failed. */
function withOutput(error: Error & { stdout?: string; stderr?: string }): never {
  throw new Error([error.message, error.stdout, error.stderr].join('\n'));
}
