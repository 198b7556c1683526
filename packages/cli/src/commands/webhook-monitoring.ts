import { type Command, Option } from 'commander';
import { openApi } from '../clients.ts';
import type { Context } from '../context.ts';
import { instant } from '../input/values.ts';
import {
  healthColumns,
  healthFields,
  showCauses,
  statisticsColumns,
  statisticsLine,
} from '../present/webhook-monitoring.ts';
import type { GlobalOptions } from '../settings/settings.ts';
import { action } from './action.ts';
import { collect, type PagingOptions, pageSize, withPaging } from './paging.ts';

interface StatisticsOptions {
  since?: string;
  until?: string;
  granularity: 'minute' | 'hour' | 'day';
  webhook?: string;
  by?: 'webhook' | 'event_type' | 'error';
}

/** An age such as `24h` then leads to a whole minute. */
const startOfMinute = () => Math.floor(Date.now() / 60_000) * 60_000;

export function addMonitoring(webhooks: Command, open: (options: GlobalOptions) => Context): void {
  withPaging(webhooks.command('health').description('show which webhooks fail; for one webhook, why and what to do'))
    .argument('[id]', 'whk_…')
    .action(
      action<PagingOptions>(open, async (context, options, id) => {
        const { printer, io } = context;
        const { webhooks: api } = openApi(context);
        if (id === undefined) {
          const list = api.listHealth({ limit: pageSize(options) }, { signal: io.signal });
          const health = await collect(context, list, options);
          return printer.list(health, healthColumns(printer.paint), 'There is no webhook.');
        }
        const health = await api.health(id, { signal: io.signal });
        printer.object(health, healthFields(health));
        showCauses(printer, health);
      }),
    );
  webhooks
    .command('statistics')
    .description('count attempts, with percentiles of their durations and lags; the last 24 hours by default')
    .option('--since <time>', 'starting with this whole minute; or how long ago, such as 2h', instant(startOfMinute))
    .option('--until <time>', 'before this whole minute', instant(startOfMinute))
    .addOption(new Option('--granularity <unit>', 'a row per').choices(['minute', 'hour', 'day']).default('hour'))
    .option('--webhook <id>', 'only this webhook')
    .addOption(new Option('--by <what>', 'divide the rows').choices(['webhook', 'event_type', 'error']))
    .action(
      action<StatisticsOptions>(open, async (context, { since, until, granularity, webhook, by }) => {
        const { printer, io } = context;
        const query = {
          granularity,
          ...(since !== undefined && { since }),
          ...(until !== undefined && { until }),
          ...(webhook !== undefined && { webhook_id: webhook }),
          ...(by !== undefined && { group_by: by }),
        };
        const statistics = await openApi(context).webhooks.statistics(query, { signal: io.signal });
        if (printer.isJson) return printer.object(statistics, []);
        printer.list(statistics.data, statisticsColumns(statistics), 'There was no attempt in this period.');
        printer.note(statisticsLine(statistics), 'dim');
      }),
    );
}
