import type { TestWebhook } from '@enterprise-api/sdk';
import { openApi } from '../clients.ts';
import type { Context } from '../context.ts';
import { Failure } from '../failure.ts';
import { deliveryFields } from '../present/deliveries.ts';
import { action } from './action.ts';
import type { CommandModule } from './index.ts';

export const addTriggerCommand: CommandModule = (program, open) => {
  program
    .command('trigger')
    .description('send a marked example of an event type to one webhook')
    .argument('<type>', 'such as batch.failed, or webhook.test')
    .option('--webhook <id>', 'whk_…; by default the only webhook of the organization')
    .addHelpText('after', '\nThe body contains "test": true. There is one attempt, and it does not affect health.')
    .action(
      action<{ webhook?: string }>(open, async (context, { webhook }, type) => {
        const id = webhook ?? (await onlyWebhook(context));
        await sendTest(context, id, { type: type as NonNullable<TestWebhook['type']> });
      }),
    );
};

export async function sendTest(context: Context, webhookId: string, test?: TestWebhook): Promise<void> {
  const delivery = await openApi(context).webhooks.test(webhookId, test, { signal: context.io.signal });
  context.printer.object(delivery, deliveryFields(delivery));
  context.printer.note(`See how it ended: enterprise-api deliveries show ${delivery.id}`, 'dim');
}

async function onlyWebhook(context: Context): Promise<string> {
  const { data } = await openApi(context).webhooks.list({ limit: 2 }, { signal: context.io.signal }).page();
  const [only, another] = data;
  if (only === undefined) {
    throw new Failure('notFound', 'There is no webhook.', 'Create one: enterprise-api webhooks create <url>');
  }
  if (another !== undefined) {
    throw new Failure(
      'usage',
      'There are several webhooks.',
      'Choose one with --webhook: enterprise-api webhooks list',
    );
  }
  return only.id;
}
