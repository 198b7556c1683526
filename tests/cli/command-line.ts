import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { type GuardedProcess, projectFolder, spawnGuarded } from '@enterprise-api/testkit';
import { run as runProgram } from '../../packages/cli/src/program.ts';
import { collectOutput, testIo } from '../../packages/cli/src/testing/test-io.ts';

export const program = join(projectFolder, 'packages/cli/bin/enterprise-api.js');

interface Finished {
  code: number;
  stdout: string;
  stderr: string;
}

interface RunOptions {
  env?: Record<string, string>;
  /** Standard input; empty by default. */
  input?: string;
}

/** The program, with a folder for settings of its own. */
export interface CommandLine extends Disposable {
  /** The folder for its settings. */
  readonly configFolder: string;
  /** Runs a command to its end, in this process. */
  run(args: readonly string[], options?: RunOptions): Promise<Finished>;
  /** Runs a command that is to succeed. @returns what it printed as JSON */
  json<Result>(args: readonly string[], options?: RunOptions): Promise<Result>;
  /** Starts a command as a process, for one that goes on until it is stopped. */
  start(args: readonly string[], options?: Pick<RunOptions, 'env'>): Promise<GuardedProcess>;
}

/** @param env settings of every command, such as the API's address */
export function createCommandLine(env: Record<string, string> = {}): CommandLine {
  const configFolder = mkdtempSync(join(tmpdir(), 'enterprise-api-cli-'));
  const environment = (more: Record<string, string> = {}) => ({
    PATH: process.env.PATH,
    ...(process.env.NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE }),
    HOME: configFolder,
    XDG_CONFIG_HOME: configFolder,
    ...env,
    ...more,
  });
  const run: CommandLine['run'] = async (args, { env: more, input = '' } = {}) => {
    const [stdout, stderr] = [collectOutput(), collectOutput()];
    const stdin = Readable.from(input === '' ? [] : [Buffer.from(input)]);
    const code = await runProgram(args, testIo({ stdin, stdout, stderr, env: environment(more) }));
    return { code, stdout: stdout.text(), stderr: stderr.text() };
  };
  return {
    configFolder,
    run,
    json: async (args, options) => {
      const { code, stdout, stderr } = await run([...args, '--json'], options);
      if (code !== 0) throw new Error(`enterprise-api ${args.join(' ')} ended with ${code}: ${stderr}`);
      return JSON.parse(stdout);
    },
    start: (args, { env: more } = {}) =>
      spawnGuarded(process.execPath, [program, ...args], { env: environment(more), cwd: configFolder }),
    [Symbol.dispose]: () => rmSync(configFolder, { recursive: true, force: true }),
  };
}
