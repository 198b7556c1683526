import type { WebhookHealth } from '@enterprise-api/sdk';
import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { formsOf, publicId } from '../input/ids.ts';
import { internalApiOf } from '../internal/client.ts';
import type { InspectedDelivery, InspectedWebhook, Sending, Stats } from '../internal/types.ts';
import type { Field } from '../output/printer.ts';
import { attemptColumns, deliveryColumns, deliveryFields, withoutSubject } from '../present/deliveries.ts';
import { healthFields, policyWarning, queueColumns, sendingFields, statsFields } from '../present/ops.ts';
import { pendingFields, showCauses } from '../present/webhook-monitoring.ts';
import { webhookFields } from '../present/webhooks.ts';
import type { GlobalOptions } from '../settings/settings.ts';
import { action } from './action.ts';
import type { CommandModule } from './index.ts';
import { addActCommands } from './ops-act.ts';
import { addBoardCommand } from './ops-board.ts';
import { addDatabaseCommands } from './ops-database.ts';
import { addErasureCommands } from './ops-erasures.ts';
import { addLedgerCommands } from './ops-ledger.ts';

type Open = (options: GlobalOptions) => Context;

export const addOpsCommands: CommandModule = (program, open) => {
  const ops = program
    .command('ops')
    .description('commands for operators (internal)')
    .addHelpText('after', '\nIds may be public ids (whk_…) or the UUIDs in the tables.');
  addStats(ops, open);
  addSending(ops, open);
  addInspection(ops, open);
  addActCommands(ops, open);
  addDatabaseCommands(ops, open);
  addIds(ops, open);
  addBoardCommand(ops, open);
  const erasures = addErasureCommands(ops, open);
  addLedgerCommands(ops, erasures, open);
};

function addStats(ops: Command, open: Open): void {
  ops
    .command('stats')
    .description('show statistics: what is waiting, recent results, and problems')
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
      .option('--organization <id>', 'only of this organization (org_…)')
      .option('--actor <name>', 'the person who asked for this, for the audit log')
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
    .description('show a webhook of any organization: its state, its health, its latest deliveries')
    .argument('<id>', 'whk_…')
    .action(
      action(open, async (context, _options, id) => {
        const api = internalApiOf(context);
        const path = `/internal/v1/webhooks/${encodeURIComponent(publicId('whk', id))}`;
        const found = await api.get<InspectedWebhook>(path);
        const health = await api.get<WebhookHealth>(`${path}/health`);
        const { data } = await api.get<{ data: InspectedDelivery['delivery'][] }>(
          `/internal/v1/organizations/${found.organization_id}/deliveries`,
          { webhook_id: found.webhook.id, limit: 10 },
        );
        const deliveries = data.map(withoutSubject);
        const fields = [...webhookFields(found.webhook), ...healthFields(found), ...pendingFields(health)];
        context.printer.object({ ...found, webhook_health: health, latest_deliveries: deliveries }, fields);
        showCauses(context.printer, health);
        context.printer.section('Latest deliveries', deliveries, deliveryColumns(context.printer.paint));
      }),
    );
  ops
    .command('delivery')
    .description('show a delivery of any organization, with its attempts')
    .argument('<id>', 'dlv_…')
    .requiredOption('--actor <name>', 'the person who reads it, for the audit log')
    .action(
      action(open, async (context, _options, id) => {
        const path = `/internal/v1/deliveries/${encodeURIComponent(publicId('dlv', id))}`;
        const found = await internalApiOf(context).get<InspectedDelivery>(path);
        const delivery = withoutSubject(found.delivery);
        const fields: Field[] = [['organization', found.organization_id], ...deliveryFields(delivery)];
        context.printer.object({ ...found, delivery }, fields);
        context.printer.section('Attempts', found.attempts, attemptColumns(context.printer.paint));
      }),
    );
}

function addIds(ops: Command, open: Open): void {
  ops
    .command('id')
    .description('show both forms of an id: the public id (whk_…) and the UUID in the tables')
    .argument('<id>', 'a public id or a UUID')
    .action(
      action(open, async ({ printer }, _options, id) => {
        const { uuid, publicIds } = formsOf(id);
        printer.object({ uuid, ids: publicIds.map(([, each]) => each) }, [['uuid', uuid], ...publicIds]);
      }),
    );
}
