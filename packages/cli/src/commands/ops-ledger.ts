import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { exitCodes } from '../exit-codes.ts';
import { Failure } from '../failure.ts';
import type { GlobalOptions } from '../settings/settings.ts';
import { action } from './action.ts';

/** The services' programs that work on the ledger, by their paths in the repository and in the images. */
const programs = {
  retention: 'services/webhook-worker/src/retention-main.ts',
  reencrypt: 'services/api/src/reencrypt-main.ts',
  retryJobs: 'services/webhook-worker/src/retry-jobs-main.ts',
  applyErasures: 'services/webhook-worker/src/apply-erasures-main.ts',
} as const;

/** This file's folder in the repository. */
const repository = fileURLToPath(new URL('../../../..', import.meta.url));

/** The settings of retention. Production may use other values than the defaults. */
const retentionSettings = ['RETENTION_BODIES', 'RETENTION_HISTORY', 'RETENTION_AUDIT'];

interface LedgerOptions {
  dryRun?: boolean;
  services?: string;
}

/**
 * Commands that need the ledger instead of the API. They start programs of the services, which this package does not
 * contain. So the services must be installed. The programs read their settings from the environment.
 */
export function addLedgerCommands(ops: Command, erasures: Command, open: (options: GlobalOptions) => Context): void {
  const help = '\nTakes DATABASE_URL and the other settings of the services from the environment.';
  const withServices = (command: Command, more: string) =>
    command
      .option('--services <folder>', 'the folder of the services (default: this repository)')
      .addHelpText('after', `${help} ${more}`);
  const ofRetention = 'Without --dry-run it also needs RETENTION_BODIES, RETENTION_HISTORY and RETENTION_AUDIT.';
  const ofReencryption = 'Refuses a first key of SECRETS_ENCRYPTION_KEYS that no service encrypts with yet.';
  withServices(ops.command('retention').description('remove expired data, as a worker does every hour'), ofRetention)
    .option('--dry-run', 'print what would be removed, and when')
    .action(
      action<LedgerOptions>(open, (context, { dryRun, services }) => {
        if (!dryRun) requireRetentionSettings(context);
        return runProgram(context, programs.retention, services, dryRun ? ['--dry-run'] : []);
      }),
    );
  withServices(
    ops.command('re-encrypt').description('encrypt all secrets with the first key of SECRETS_ENCRYPTION_KEYS'),
    ofReencryption,
  ).action(
    action<LedgerOptions>(open, (context, { services }) =>
      runProgram(context, programs.reencrypt, services, ['--only-key-in-use']),
    ),
  );
  withServices(
    ops.command('retry-jobs').description('retry failed jobs of event-writes, each of which may be a whole event'),
    'If the services have REDIS_URL, set it too. Without it, the command uses the queue in PostgreSQL.',
  ).action(
    action<LedgerOptions>(open, (context, { services }) => runProgram(context, programs.retryJobs, services, [])),
  );
  withServices(
    erasures
      .command('apply')
      .description('erase again what an export names, in a restored ledger, before any service starts')
      .argument('<file>', 'the output of export'),
    'If the services have REDIS_URL, set it too. Services refuse to start until it has succeeded.',
  ).action(
    action<LedgerOptions>(open, (context, { services }, file) =>
      runProgram(context, programs.applyErasures, services, [resolve(file)]),
    ),
  );
}

/** A default shorter than production's setting would delete history irrecoverably. */
function requireRetentionSettings({ io }: Context): void {
  const missing = retentionSettings.filter((name) => !io.env[name]);
  if (missing.length === 0) return;
  throw new Failure(
    'usage',
    `Not set: ${missing.join(', ')}.`,
    "Use production's values: a shorter time removes more data, for good. --dry-run prints what would be removed.",
  );
}

/** Runs a program of the services until it ends. Passes on its output and its failure. */
async function runProgram({ io }: Context, path: string, services: string | undefined, args: string[]): Promise<void> {
  const folder = resolve(services ?? repository);
  const program = join(folder, path);
  if (!existsSync(program)) {
    throw new Failure(
      'usage',
      `There is no ${path} in ${folder}.`,
      'Run it where the services are installed, or name that folder with --services.',
    );
  }
  if (!io.env.DATABASE_URL && !io.env.DATABASE_URL_FILE) {
    throw new Failure('usage', 'DATABASE_URL is not set.', 'This command connects to the database.');
  }
  const node = join(folder, 'node_modules/.bin/node');
  const child = spawn(existsSync(node) ? node : process.execPath, [program, ...args], {
    env: { ...io.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stdout.on('data', (chunk: Buffer) => void io.stdout.write(chunk));
  child.stderr.on('data', (chunk: Buffer) => void io.stderr.write(chunk));
  const stop = () => void child.kill('SIGTERM');
  io.signal.addEventListener('abort', stop, { once: true });
  if (io.signal.aborted) stop();
  const code = await new Promise<number | null>((done, fail) => {
    child.once('error', fail);
    child.once('close', done);
  });
  io.signal.removeEventListener('abort', stop);
  if (code === 78) throw new Failure('usage', 'The settings are invalid.');
  if (code !== exitCodes.success.code) throw new Failure('failure', 'The command failed.');
}
