import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { publicId } from '../input/ids.ts';
import { internalApiOf } from '../internal/client.ts';
import type { InspectedDelivery, InspectedWebhook, Replay, ReplayPreview } from '../internal/types.ts';
import { deliveryFields, withoutSubject } from '../present/deliveries.ts';
import { healthFields } from '../present/ops.ts';
import { showReplay } from '../present/replay.ts';
import { webhookFields } from '../present/webhooks.ts';
import type { GlobalOptions } from '../settings/settings.ts';
import { action } from './action.ts';
import { type ReplayOptions, replayRequestOf, withReplayOptions } from './replays.ts';

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

function addReplay(ops: Command, open: Open): void {
  withActor(
    withReplayOptions(
      ops
        .command('replay')
        .description('send deliveries of a period again, or skipped events, to a webhook of any organization')
        .argument('<id>', 'whk_…'),
    ),
  ).action(
    action<ReplayOptions>(open, async (context, options, id) => {
      const path = `/internal/v1/webhooks/${encodeURIComponent(publicId('whk', id))}/replay`;
      const replay = await internalApiOf(context).post<Replay | ReplayPreview>(path, replayRequestOf(options));
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
