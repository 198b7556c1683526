import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { formsOf, publicId } from '../input/ids.ts';
import { internalApiOf } from '../internal/client.ts';
import type { InspectedDelivery, InspectedWebhook, Sending, Stats } from '../internal/types.ts';
import { attemptColumns, deliveryColumns, deliveryFields } from '../present/deliveries.ts';
import { healthFields, policyWarning, queueColumns, sendingFields, statsFields } from '../present/ops.ts';
import { webhookFields } from '../present/webhooks.ts';
import type { GlobalOptions } from '../settings/settings.ts';
import { action } from './action.ts';
import type { CommandModule } from './index.ts';
import { addActCommands } from './ops-act.ts';
import { addBoardCommand } from './ops-board.ts';
import { addDatabaseCommands } from './ops-database.ts';
import { addLedgerCommands } from './ops-ledger.ts';

type Open = (options: GlobalOptions) => Context;

export const addOpsCommands: CommandModule = (program, open) => {
  const ops = program
    .command('ops')
    .description('what operators see and do (internal)')
    .addHelpText('after', '\nIds are public ones (whk_…) or UUIDs, as the tables of the ledger have them.');
  addStats(ops, open);
  addSending(ops, open);
  addInspection(ops, open);
  addActCommands(ops, open);
  addDatabaseCommands(ops, open);
  addIds(ops, open);
  addBoardCommand(ops, open);
  addLedgerCommands(ops, open);
};

function addStats(ops: Command, open: Open): void {
  ops
    .command('stats')
    .description('what waits, what happened lately, and what needs a look')
    .action(
      action(open, async (context) => {
        const stats = await internalApiOf(context).get<Stats>('/internal/v1/stats');
        context.printer.object(stats, statsFields(stats));
        if (stats.queues === null) context.printer.note('The queue did not answer in time.');
        else context.printer.section('Queues', stats.queues, queueColumns);
        const warning = policyWarning(stats);
        if (warning !== null) context.printer.note(warning);
      }),
    );
}

interface SendingOptions {
  organization?: string;
}

function addSending(ops: Command, open: Open): void {
  const ofOrganization = ({ organization }: SendingOptions) =>
    organization === undefined ? {} : { organization_id: publicId('org', organization) };
  const addSetting = (name: string, description: string, paused: boolean) =>
    ops
      .command(name)
      .description(description)
      .option('--organization <id>', 'of one organization (org_…) instead of all')
      .option('--actor <name>', 'who asks for it, for the audit log')
      .action(
        action<SendingOptions>(open, async (context, options) => {
          const body = { paused, ...ofOrganization(options) };
          const sending = await internalApiOf(context).post<Sending>('/internal/v1/sending', body);
          context.printer.object(sending, sendingFields(sending));
        }),
      );
  addSetting('pause', 'pause deliveries within 5 s; events are still accepted, and no attempt is used up', true);
  addSetting('resume', 'resume deliveries', false);
}

function addInspection(ops: Command, open: Open): void {
  ops
    .command('webhook')
    .description('a webhook of whatever organization: its state, its health, its latest deliveries')
    .argument('<id>', 'whk_…')
    .action(
      action(open, async (context, _options, id) => {
        const api = internalApiOf(context);
        const found = await api.get<InspectedWebhook>(
          `/internal/v1/webhooks/${encodeURIComponent(publicId('whk', id))}`,
        );
        const { data: deliveries } = await api.get<{ data: InspectedDelivery['delivery'][] }>(
          `/internal/v1/organizations/${found.organization_id}/deliveries`,
          { webhook_id: found.webhook.id, limit: 10 },
        );
        const fields = [...webhookFields(found.webhook), ...healthFields(found)];
        context.printer.object({ ...found, latest_deliveries: deliveries }, fields);
        context.printer.section('Latest deliveries', deliveries, deliveryColumns(context.printer.paint));
      }),
    );
  ops
    .command('delivery')
    .description('a delivery of whatever organization, with its attempts')
    .argument('<id>', 'dlv_…')
    .action(
      action(open, async (context, _options, id) => {
        const path = `/internal/v1/deliveries/${encodeURIComponent(publicId('dlv', id))}`;
        const found = await internalApiOf(context).get<InspectedDelivery>(path);
        context.printer.object(found, [['organization', found.organization_id], ...deliveryFields(found.delivery)]);
        context.printer.section('Attempts', found.attempts, attemptColumns(context.printer.paint));
      }),
    );
}

function addIds(ops: Command, open: Open): void {
  ops
    .command('id')
    .description('both forms of an id: that of the API and of logs (whk_…), and the UUID of the tables')
    .argument('<id>', 'a public id or a UUID')
    .action(
      action(open, async ({ printer }, _options, id) => {
        const { uuid, publicIds } = formsOf(id);
        printer.object({ uuid, ids: publicIds.map(([, each]) => each) }, [['uuid', uuid], ...publicIds]);
      }),
    );
}
