import { Command, CommanderError, Help } from 'commander';
import { type CommandModule, commandModules } from './commands/index.ts';
import { openContext } from './context.ts';
import { examples } from './examples.ts';
import { exitCodes } from './exit-codes.ts';
import { explain } from './explain.ts';
import { Interruption } from './interruption.ts';
import type { Io } from './io.ts';
import { isColoured, paintFor } from './output/paint.ts';
import { manyLines } from './output/text.ts';
import { openProfiles } from './settings/profiles.ts';
import { profileName } from './settings/settings.ts';
import { version } from './version.ts';

/**
 * Runs one command line.
 *
 * @returns the process's exit code
 */
export async function run(args: readonly string[], io: Io): Promise<number> {
  try {
    await createProgram(io).parseAsync(args, { from: 'user' });
    return io.signal.aborted ? endedEarly(io.signal.reason) : exitCodes.success.code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.success.code : exitCodes.usage.code;
    // After an interruption, any failure is a consequence of it.
    if (io.signal.aborted) return endedEarly(io.signal.reason);
    return report(error, io);
  }
}

/** Builds the tree of commands. */
export function createProgram(io: Io, modules: readonly CommandModule[] = commandModules): Command {
  const program = new Command('enterprise-api')
    .description('A client of the Enterprise API: webhooks, deliveries, events, usage, and other areas.')
    .version(version, '-V, --version', 'print the version')
    .option('--json', 'print JSON; one object per line for continuous output')
    .option('--profile <name>', 'the stored address and key to use (ENTERPRISE_API_PROFILE; "default" otherwise)')
    .option('--api-url <url>', 'the address of the API (ENTERPRISE_API_URL)')
    .option('--internal-url <url>', 'the address of the internal listener (ENTERPRISE_API_INTERNAL_URL)')
    .addHelpText('after', helpOnSettings)
    .showHelpAfterError('(add --help to see what is possible)')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void io.stdout.write(text),
      writeErr: (text) => void io.stderr.write(text),
      getOutHelpWidth: () => io.stdout.columns ?? 100,
      getErrHelpWidth: () => io.stderr.columns ?? 100,
      getOutHasColors: () => isColoured(io.stdout, io.env),
      getErrHasColors: () => isColoured(io.stderr, io.env),
    });
  if (!knowsInternalListener(io)) program.configureHelp({ visibleCommands: withoutInternalCommands });
  for (const add of modules) add(program, (options) => openContext(io, options));
  addExamples(program);
  return program;
}

const internalCommands = new Set(['orgs', 'keys', 'audit', 'ops', 'runbook']);

function withoutInternalCommands(command: Command): Command[] {
  return new Help().visibleCommands(command).filter((each) => !internalCommands.has(each.name()));
}

/** True if the environment or the profile gives the address of an internal listener. */
function knowsInternalListener({ env }: Io): boolean {
  if (env.ENTERPRISE_API_INTERNAL_URL || env.INTERNAL_API_SECRET || env.INTERNAL_API_SECRET_FILE) return true;
  try {
    return openProfiles(env).read(profileName({}, env))?.internal_url !== undefined;
  } catch {
    // A command that needs the profile explains what is wrong with it.
    return false;
  }
}

/** @param path the names of the commands above, each followed by a space */
function addExamples(command: Command, path = ''): void {
  for (const child of command.commands) {
    const name = `${path}${child.name()}`;
    const example = examples[name];
    if (example !== undefined) child.addHelpText('after', `\nExample:\n  enterprise-api ${name} ${example}`);
    addExamples(child, `${name} `);
  }
}

const helpOnSettings = `
Settings, which override the address and the key of "login":
  ENTERPRISE_API_URL, ENTERPRISE_API_KEY                        the API and a key
  ENTERPRISE_API_INTERNAL_URL, ENTERPRISE_API_INTERNAL_SECRET   the internal listener and its secret
  ENTERPRISE_API_PROFILE                                        the profile
  ENTERPRISE_API_LISTEN_SECRET                                  the secret that "listen" signs with
  NO_COLOR                                                      no colours

Exit codes:
${Object.values(exitCodes)
  .map(({ code, meaning }) => `  ${String(code).padStart(3)}  ${meaning}`)
  .join('\n')}`;

function report(error: unknown, io: Io): number {
  const { message, hint, details, outcome } = explain(error);
  const paint = paintFor(io.stderr, io.env);
  const lines = [
    `${paint('red', 'error:')} ${manyLines(message)}`,
    ...details.map((detail) => `  ${manyLines(detail)}`),
  ];
  if (hint !== undefined) lines.push(`${paint('dim', 'hint:')}  ${manyLines(hint)}`);
  io.stderr.write(`${lines.join('\n')}\n`);
  return exitCodes[outcome].code;
}

function endedEarly(reason: unknown): number {
  return reason instanceof Interruption ? reason.exitCode : exitCodes.failure.code;
}
