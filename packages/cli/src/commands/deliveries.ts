import { type Command, Option } from 'commander';
import { openApi } from '../clients.ts';
import type { Context } from '../context.ts';
import { readSubject } from '../input/ask.ts';
import { instant, listOf } from '../input/values.ts';
import { manyLines } from '../output/text.ts';
import {
  attemptColumns,
  deliveryColumns,
  deliveryFields,
  deliveryLine,
  headerColumns,
  headersOf,
} from '../present/deliveries.ts';
import { readable } from '../present/format.ts';
import type { GlobalOptions } from '../settings/settings.ts';
import { tailDeliveries } from '../tail/tail-deliveries.ts';
import { action } from './action.ts';
import type { CommandModule } from './index.ts';
import { collect, type PagingOptions, pageSize, withPaging } from './paging.ts';

type Open = (options: GlobalOptions) => Context;

interface FilterOptions {
  webhook?: string;
  event?: string;
  type?: string[];
  status?: string[];
  since?: string;
}

interface ListOptions extends FilterOptions, PagingOptions {
  subject?: true;
  lastStatus?: string;
  lastError?: string[];
  until?: string;
  order: 'asc' | 'desc';
}

export const addDeliveryCommands: CommandModule = (program, open) => {
  const deliveries = program.command('deliveries').description('deliveries to webhooks, with their attempts');
  addList(deliveries, open);
  addSingle(deliveries, open);
  withFilters(deliveries.command('tail').description('print new deliveries and each change to them'))
    .option('--since <time>', 'start at this time instead of now', instant())
    .action(
      action<FilterOptions>(open, async (context, options) => {
        const { printer } = context;
        const api = openApi(context);
        for await (const delivery of tailDeliveries(api, filterOf(options), context)) {
          printer.record(delivery, () => deliveryLine(delivery, printer.paint));
        }
      }),
    );
};

function addList(deliveries: Command, open: Open): void {
  withPaging(withFilters(deliveries.command('list').description('list deliveries, newest first')))
    .option('--subject', 'only about the consultation or batch that standard input names')
    .option('--last-status <code>', 'only if the last answer had this status, such as 503 or 5xx')
    .option('--last-error <errors>', 'only with one of these last errors; a comma-separated list', listOf)
    .option('--since <time>', 'created at or after this time; or how long ago, such as 2h', instant())
    .option('--until <time>', 'created before this time', instant())
    .addOption(new Option('--order <order>', 'newest or oldest first').choices(['desc', 'asc']).default('desc'))
    .action(
      action<ListOptions>(open, async (context, options) => {
        const { lastStatus, lastError, until, order } = options;
        const about = options.subject && { subject: await readSubject(context.io) };
        const query = {
          ...filterOf(options),
          ...about,
          ...(lastStatus !== undefined && { last_status_code: lastStatus }),
          ...(lastError !== undefined && { last_error: lastError }),
          ...(until !== undefined && { until }),
          order,
          limit: pageSize(options),
        };
        const list = openApi(context).deliveries.list(query, { signal: context.io.signal });
        const columns = deliveryColumns(context.printer.paint);
        context.printer.list(await collect(context, list, options), columns, 'There is no such delivery.');
      }),
    );
}

function addSingle(deliveries: Command, open: Open): void {
  deliveries
    .command('show')
    .description('show one delivery with its attempts and its request')
    .argument('<id>', 'dlv_…')
    .action(
      action(open, async (context, _options, id) => {
        const { printer, io } = context;
        const delivery = await openApi(context).deliveries.get(id, { signal: io.signal });
        printer.object(delivery, deliveryFields(delivery));
        printer.section('Attempts', delivery.attempts, attemptColumns(printer.paint));
        printer.section('Request', headersOf(delivery), headerColumns);
        printer.text('', manyLines(readable(delivery.request.body ?? 'The body is no longer stored.')));
      }),
    );
  deliveries
    .command('retry')
    .description('send one delivery again, now and with a fresh retry schedule')
    .argument('<id>', 'dlv_…')
    .action(
      action(open, async (context, _options, id) => {
        const delivery = await openApi(context).deliveries.retry(id, { signal: context.io.signal });
        context.printer.object(delivery, deliveryFields(delivery));
      }),
    );
}

function withFilters(command: Command): Command {
  return command
    .option('--webhook <id>', 'only of this webhook')
    .option('--event <id>', 'only of this event')
    .option('--type <types>', 'only these event types: a comma-separated list, or repeat the option', listOf)
    .option('--status <statuses>', 'pending, succeeded, failed, canceled; a comma-separated list', listOf);
}

function filterOf({ webhook, event, type, status, since }: FilterOptions) {
  return {
    ...(webhook !== undefined && { webhook_id: webhook }),
    ...(event !== undefined && { event_id: event }),
    ...(type !== undefined && { event_type: type }),
    ...(status !== undefined && { status }),
    ...(since !== undefined && { since }),
  };
}
