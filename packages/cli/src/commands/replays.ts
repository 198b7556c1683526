import type { Command } from 'commander';
import { openApi } from '../clients.ts';
import type { Context } from '../context.ts';
import { instant, listOf, wholeNumber } from '../input/values.ts';
import { replayColumns, replayFields } from '../present/replay.ts';
import type { GlobalOptions } from '../settings/settings.ts';
import { action } from './action.ts';
import type { CommandModule } from './index.ts';
import { collect, type PagingOptions, pageSize, withPaging } from './paging.ts';

type Open = (options: GlobalOptions) => Context;

export const addReplayCommands: CommandModule = (program, open) => {
  const replays = program.command('replays').description('replays of deliveries, with how far they are');
  withPaging(replays.command('list').description('list replays, newest first'))
    .option('--webhook <id>', 'only of this webhook')
    .action(
      action<PagingOptions & { webhook?: string }>(open, async (context, options) => {
        const filter = options.webhook === undefined ? {} : { webhook_id: options.webhook };
        const { signal } = context.io;
        const list = openApi(context).replays.list({ ...filter, limit: pageSize(options) }, { signal });
        context.printer.list(await collect(context, list, options), replayColumns, 'There is no replay.');
      }),
    );
  addSingle(replays, open, 'get', 'show one replay');
  addSingle(replays, open, 'cancel', 'cancel what a replay has not sent yet');
};

function addSingle(replays: Command, open: Open, name: 'get' | 'cancel', description: string): void {
  replays
    .command(name)
    .description(description)
    .argument('<id>', 'rpl_…')
    .action(
      action(open, async (context, _options, id) => {
        const replay = await openApi(context).replays[name](id, { signal: context.io.signal });
        context.printer.object(replay, replayFields(replay));
      }),
    );
}

export interface ReplayOptions {
  since: string;
  until?: string;
  status?: ('failed' | 'canceled' | 'succeeded' | 'skipped' | 'pending')[];
  type?: string[];
  error?: string[];
  statusCode?: string[];
  rate?: number;
  dryRun?: true;
}

export function withReplayOptions(command: Command): Command {
  return command
    .requiredOption('--since <time>', 'created at or after this time; or how long ago, such as 2h', instant())
    .option('--until <time>', 'created before this time', instant())
    .option(
      '--status <statuses>',
      'failed, canceled, succeeded, skipped, pending (default: failed and canceled)',
      listOf,
    )
    .option('--type <types>', 'only these event types', listOf)
    .option('--error <errors>', 'only deliveries whose last error is one of these, such as timeout', listOf)
    .option('--status-code <codes>', 'only deliveries whose last answer had one of these, such as 503', listOf)
    .option('--rate <number>', 'first attempts per second', wholeNumber(1, 1_000))
    .option('--dry-run', 'show what would be sent, and send nothing');
}

export function replayRequestOf({ since, until, status, type, error, statusCode, rate, dryRun }: ReplayOptions) {
  return {
    since,
    ...(until !== undefined && { until }),
    ...(status !== undefined && { status }),
    ...(type !== undefined && { event_type: type }),
    ...(error !== undefined && { error }),
    ...(statusCode !== undefined && { status_code: statusCode.map(Number) }),
    ...(rate !== undefined && { rate_per_second: rate }),
    ...(dryRun && { dry_run: dryRun }),
  };
}
