import { Option } from 'commander';
import { openApi } from '../clients.ts';
import { instant } from '../input/values.ts';
import { totalsLine, usageColumns } from '../present/usage.ts';
import { action } from './action.ts';
import type { CommandModule } from './index.ts';

interface UsageOptions {
  since?: string;
  until?: string;
  granularity: 'hour' | 'day' | 'month';
  by?: 'key' | 'area';
}

export const addUsageCommand: CommandModule = (program, open) => {
  program
    .command('usage')
    .description('show requests, events, deliveries and attempts of a period, this month by default')
    .option('--since <time>', 'starting with this whole hour', instant())
    .option('--until <time>', 'before this whole hour', instant())
    .addOption(new Option('--granularity <unit>', 'a row per').choices(['hour', 'day', 'month']).default('day'))
    .addOption(new Option('--by <what>', 'divide the rows').choices(['key', 'area']))
    .action(
      action<UsageOptions>(open, async (context, { since, until, granularity, by }) => {
        const { printer, io } = context;
        const query = {
          granularity,
          ...(since !== undefined && { since }),
          ...(until !== undefined && { until }),
          ...(by !== undefined && { group_by: by }),
        };
        const usage = await openApi(context).usage.get(query, { signal: io.signal });
        if (printer.isJson) return printer.object(usage, []);
        printer.list(
          usage.data,
          usageColumns(usage, printer.paint, printer.isTerminal),
          'Nothing was used in this period.',
        );
        printer.note(totalsLine(usage), 'dim');
      }),
    );
};
