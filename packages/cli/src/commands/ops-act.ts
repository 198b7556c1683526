import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { publicId } from '../input/ids.ts';
import { instant, listOf } from '../input/values.ts';
import { internalApiOf } from '../internal/client.ts';
import type { InspectedDelivery, InspectedWebhook, Replay } from '../internal/types.ts';
import { deliveryFields, withoutSubject } from '../present/deliveries.ts';
import { healthFields } from '../present/ops.ts';
import { showReplay } from '../present/replay.ts';
import { webhookFields } from '../present/webhooks.ts';
import type { GlobalOptions } from '../settings/settings.ts';
import { action } from './action.ts';

type Open = (options: GlobalOptions) => Context;

/** An operator's actions for an organization. They follow the same rules as the organization's own requests. */
export function addActCommands(ops: Command, open: Open): void {
  addRetry(ops, open);
  addReplay(ops, open);
  addEnabling(
    ops,
    open,
    'enable',
    'enable a webhook of any organization; canceled deliveries stay canceled until a replay',
  );
  addEnabling(ops, open, 'disable', 'disable a webhook of any organization, and cancel its pending deliveries');
}

/** The audit log records each action. */
const withActor = (command: Command) =>
  command.option('--actor <name>', 'the person who asked for this, for the audit log');

function addRetry(ops: Command, open: Open): void {
  withActor(
    ops
      .command('retry')
      .description('send a delivery of any organization again, now and with a fresh retry schedule')
      .argument('<id>', 'dlv_…'),
  ).action(
    action(open, async (context, _options, id) => {
      const path = `/internal/v1/deliveries/${encodeURIComponent(publicId('dlv', id))}/retry`;
      const delivery = withoutSubject(await internalApiOf(context).post<InspectedDelivery['delivery']>(path, {}));
      context.printer.object(delivery, deliveryFields(delivery));
    }),
  );
}

interface ReplayOptions {
  since: string;
  until?: string;
  status?: string[];
}

function addReplay(ops: Command, open: Open): void {
  withActor(
    ops
      .command('replay')
      .description('send the failed and canceled deliveries of a period again, to a webhook of any organization')
      .argument('<id>', 'whk_…')
      .requiredOption('--since <time>', 'created at or after this time; or how long ago, such as 2h', instant())
      .option('--until <time>', 'created before this time', instant())
      .option('--status <statuses>', 'failed, canceled, succeeded (default: failed and canceled)', listOf),
  ).action(
    action<ReplayOptions>(open, async (context, { since, until, status }, id) => {
      const body = { since, ...(until !== undefined && { until }), ...(status !== undefined && { status }) };
      const path = `/internal/v1/webhooks/${encodeURIComponent(publicId('whk', id))}/replay`;
      const replay = await internalApiOf(context).post<Replay>(path, body);
      showReplay(context.printer, replay);
    }),
  );
}

function addEnabling(ops: Command, open: Open, name: 'enable' | 'disable', description: string): void {
  withActor(ops.command(name).description(description).argument('<id>', 'whk_…')).action(
    action(open, async (context, _options, id) => {
      const path = `/internal/v1/webhooks/${encodeURIComponent(publicId('whk', id))}`;
      const found = await internalApiOf(context).patch<InspectedWebhook>(path, { enabled: name === 'enable' });
      context.printer.object(found, [...webhookFields(found.webhook), ...healthFields(found)]);
    }),
  );
}
