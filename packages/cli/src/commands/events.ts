import { type Command, Option } from 'commander';
import { openApi } from '../clients.ts';
import type { Context } from '../context.ts';
import { readSubject } from '../input/ask.ts';
import { instant, listOf } from '../input/values.ts';
import { manyLines } from '../output/text.ts';
import { eventColumns, eventFields } from '../present/events.ts';
import { showExplanation } from '../present/explanation.ts';
import type { GlobalOptions } from '../settings/settings.ts';
import { action } from './action.ts';
import { addSendCommand } from './events-send.ts';
import type { CommandModule } from './index.ts';
import { followAndListen } from './listen.ts';
import { collect, type PagingOptions, pageSize, withPaging } from './paging.ts';

type Open = (options: GlobalOptions) => Context;

export const addEventCommands: CommandModule = (program, open) => {
  const events = program.command('events').description('events of the organization');
  addReading(events, open);
  addTail(events, open);
  addSendCommand(events, open);
};

interface ListOptions extends PagingOptions {
  type?: string[];
  subject?: true;
  search?: string;
  since?: string;
  until?: string;
  order: 'asc' | 'desc';
}

function addReading(events: Command, open: Open): void {
  withPaging(events.command('list').description('list events, newest first'))
    .option('--type <types>', 'only these types: a comma-separated list, or repeat the option', listOf)
    .option('--subject', 'only about the consultation or batch that standard input names')
    .option('--search <text>', 'only if a string of the data contains this text; slow, because it reads every event')
    .option('--since <time>', 'created at or after this time; or how long ago, such as 2h', instant())
    .option('--until <time>', 'created before this time', instant())
    .addOption(new Option('--order <order>', 'newest or oldest first').choices(['desc', 'asc']).default('desc'))
    .action(
      action<ListOptions>(open, async (context, options) => {
        const { type, search, since, until, order } = options;
        const about = options.subject && { subject: await readSubject(context.io) };
        const filter = {
          ...about,
          ...(type && { type }),
          ...(search && { q: search }),
          ...(since && { since }),
          ...(until && { until }),
        };
        const query = { ...filter, order, limit: pageSize(options) };
        const list = openApi(context).events.list(query, { signal: context.io.signal });
        context.printer.list(await collect(context, list, options), eventColumns, 'There is no such event.');
      }),
    );
  events
    .command('show')
    .description('show one event with its data')
    .argument('<id>', 'evt_…')
    .action(
      action(open, async (context, _options, id) => {
        const event = await openApi(context).events.get(id, { signal: context.io.signal });
        context.printer.object(event, eventFields(event));
        const data = event.data === null ? 'The data is no longer stored.' : JSON.stringify(event.data, null, 2);
        context.printer.text('', manyLines(data));
      }),
    );
  events
    .command('explain')
    .description('say for each webhook whether it got an event, and why')
    .argument('<id>', 'evt_…')
    .option('--webhook <id>', 'only this webhook')
    .action(
      action<{ webhook?: string }>(open, async (context, { webhook }, id) => {
        const query = webhook === undefined ? {} : { webhook_id: webhook };
        showExplanation(
          context.printer,
          await openApi(context).events.explain(id, query, { signal: context.io.signal }),
        );
      }),
    );
}

function addTail(events: Command, open: Open): void {
  events
    .command('tail')
    .description('print events as they happen')
    .option(
      '--type <types>',
      'types, such as batch.failed or consultation.*; a comma-separated list (default: all)',
      listOf,
    )
    .option('--after <id>', 'begin after this event (evt_…) instead of now')
    .action(
      action<{ type?: string[]; after?: string }>(open, async (context, { type = [], after }) => {
        await followAndListen(context, { events: type, after });
      }),
    );
}
