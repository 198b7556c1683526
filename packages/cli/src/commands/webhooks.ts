import type { ExplainType } from '@enterprise-api/sdk';
import { type Command, Option } from 'commander';
import { openApi } from '../clients.ts';
import type { Context } from '../context.ts';
import { Failure } from '../failure.ts';
import { confirm } from '../input/ask.ts';
import { readHeaders } from '../input/headers.ts';
import { bytesOf, durationMs, listOf } from '../input/values.ts';
import { showExplanation } from '../present/explanation.ts';
import { showReplay } from '../present/replay.ts';
import { eventTypeColumns, signatureCheckFields, webhookColumns, webhookFields } from '../present/webhooks.ts';
import type { GlobalOptions } from '../settings/settings.ts';
import { action } from './action.ts';
import type { CommandModule } from './index.ts';
import { collect, type PagingOptions, pageSize, withPaging } from './paging.ts';
import { type ReplayOptions, replayRequestOf, withReplayOptions } from './replays.ts';
import { sendTest } from './trigger.ts';
import { addControl, type ControlOptions, controlsOf, withControls } from './webhook-control.ts';
import { addMonitoring } from './webhook-monitoring.ts';

type Open = (options: GlobalOptions) => Context;

export const addWebhookCommands: CommandModule = (program, open) => {
  const webhooks = program.command('webhooks').description('URLs that receive events');
  addReading(webhooks, open);
  addMonitoring(webhooks, open);
  addChanging(webhooks, open);
  addControl(webhooks, open);
  addSending(webhooks, open);
  addVerify(webhooks, open);
};

interface ListOptions extends PagingOptions {
  enabled?: boolean;
  disabled?: boolean;
}

function addReading(webhooks: Command, open: Open): void {
  withPaging(webhooks.command('list').description('list the webhooks, newest first'))
    .option('--enabled', 'only enabled webhooks')
    .addOption(new Option('--disabled', 'only disabled webhooks').conflicts('enabled'))
    .action(
      action<ListOptions>(open, async (context, options) => {
        const filter = options.enabled ? { enabled: true } : options.disabled ? { enabled: false } : {};
        const { signal } = context.io;
        const list = openApi(context).webhooks.list({ ...filter, limit: pageSize(options) }, { signal });
        const columns = webhookColumns(context.printer.paint);
        context.printer.list(
          await collect(context, list, options),
          columns,
          'There is no webhook: enterprise-api webhooks create <url>',
        );
      }),
    );
  webhooks
    .command('show')
    .description('show one webhook')
    .argument('<id>', 'whk_…')
    .action(
      action(open, async (context, _options, id) => {
        const webhook = await openApi(context).webhooks.get(id, { signal: context.io.signal });
        context.printer.object(webhook, webhookFields(webhook));
      }),
    );
  webhooks
    .command('event-types')
    .description('list the event types that a webhook can subscribe to')
    .action(
      action(open, async (context) => {
        const list = openApi(context).webhooks.listEventTypes({ signal: context.io.signal });
        context.printer.list(
          await collect(context, list, { limit: 100, all: true }),
          eventTypeColumns,
          'There is no event type.',
        );
      }),
    );
  webhooks
    .command('explain')
    .description('say for each webhook whether it would get an event of a type, and why not')
    .requiredOption('--type <type>', 'the type, such as batch.failed')
    .option('--webhook <id>', 'only this webhook')
    .action(
      action<ExplainOptions>(open, async (context, { type, webhook }) => {
        const question = { type, ...(webhook !== undefined && { webhook_id: webhook }) };
        showExplanation(
          context.printer,
          await openApi(context).webhooks.explain(question, { signal: context.io.signal }),
        );
      }),
    );
}

interface ExplainOptions {
  type: ExplainType['type'];
  webhook?: string;
}

interface CreateOptions extends ControlOptions {
  events: string[];
  description?: string;
  disabled?: boolean;
}

interface UpdateOptions extends ControlOptions {
  url?: string;
  events?: string[];
  description?: string;
  enable?: boolean;
  disable?: boolean;
}

const eventsHelp =
  'types to subscribe to, such as batch.failed, consultation.* or *; a comma-separated list, or repeat the option';

function addChanging(webhooks: Command, open: Open): void {
  withControls(webhooks.command('create').description('register a URL and print its signing secret once'))
    .argument('<url>', 'an https URL')
    .requiredOption('-e, --events <types>', eventsHelp, listOf)
    .option('--description <text>', 'a name for people')
    .option('--disabled', 'register it disabled')
    .action(
      action<CreateOptions>(open, async (context, { events, description, disabled, ...controls }, url) => {
        const fields = {
          url,
          events,
          ...(description !== undefined && { description }),
          ...(disabled && { enabled: false }),
          ...(await controlsOf(controls, context)),
        };
        const webhook = await openApi(context).webhooks.create(fields, { signal: context.io.signal });
        context.printer.object(webhook, [...webhookFields(webhook), ['secret', webhook.secret]]);
        keepSecret(context);
      }),
    );
  withControls(webhooks.command('update').description('change a webhook'))
    .argument('<id>', 'whk_…')
    .option('--url <url>', 'a new https URL')
    .option('-e, --events <types>', eventsHelp, listOf)
    .option('--description <text>', 'a note; an empty text removes it')
    .option('--enable', 'deliver again')
    .addOption(new Option('--disable', 'stop delivering, and cancel pending deliveries').conflicts('enable'))
    .action(
      action<UpdateOptions>(open, async (context, options, id) => {
        const changes = await changesOf(options, context);
        const webhook = await openApi(context).webhooks.update(id, changes, { signal: context.io.signal });
        context.printer.object(webhook, webhookFields(webhook));
      }),
    );
  webhooks
    .command('delete')
    .description('delete a webhook and cancel its pending deliveries')
    .argument('<id>', 'whk_…')
    .option('-y, --yes', 'do not ask for confirmation')
    .action(
      action<{ yes?: boolean }>(open, async (context, { yes }, id) => {
        const { io, printer } = context;
        const api = openApi(context);
        if (!yes) await askBeforeDeleting(context, (await api.webhooks.get(id, { signal: io.signal })).url);
        await api.webhooks.delete(id, { signal: io.signal });
        if (printer.isJson) printer.record({ id, object: 'webhook', deleted: true }, () => '');
        printer.text(`Deleted ${id}. Its deliveries stay readable.`);
      }),
    );
}

async function changesOf(options: UpdateOptions, context: Context) {
  const { url, events, description, enable, disable, ...controls } = options;
  const changes = {
    ...(url !== undefined && { url }),
    ...(events !== undefined && { events }),
    ...(description !== undefined && { description: description === '' ? null : description }),
    ...((enable || disable) && { enabled: enable === true }),
    ...(await controlsOf(controls, context)),
  };
  if (Object.keys(changes).length > 0) return changes;
  throw new Failure(
    'usage',
    'Nothing to change.',
    'Give --url, --events, --description, --enable, --disable, --rate-limit, --max-in-flight, --auto-recover or --headers.',
  );
}

async function askBeforeDeleting({ io }: Context, url: string): Promise<void> {
  if (!io.stdin.isTTY) throw new Failure('usage', 'Deleting needs a confirmation.', 'Add --yes.');
  if (!(await confirm(io, `Delete the webhook of ${url}?`))) throw new Failure('usage', 'Nothing was deleted.');
}

interface RotateOptions {
  overlap?: number;
  force?: boolean;
}

function addSending(webhooks: Command, open: Open): void {
  webhooks
    .command('rotate-secret')
    .description('create a new secret; both stay in use for an overlap')
    .argument('<id>', 'whk_…')
    .option('--overlap <duration>', 'how long both stay in use, such as 0s, 24h or 7d (default: 24h)', durationMs)
    .option('--force', 'end an overlap that is still open')
    .action(
      action<RotateOptions>(open, async (context, { overlap, force }, id) => {
        const body = {
          ...(overlap !== undefined && { overlap_seconds: Math.round(overlap / 1_000) }),
          ...(force && { force }),
        };
        const webhook = await openApi(context).webhooks.rotateSecret(id, body, { signal: context.io.signal });
        context.printer.object(webhook, [...webhookFields(webhook), ['secret', webhook.secret]]);
        keepSecret(context);
      }),
    );
  webhooks
    .command('test')
    .description('send a webhook.test event to one webhook, also while it is disabled')
    .argument('<id>', 'whk_…')
    .action(action(open, (context, _options, id) => sendTest(context, id)));
  withReplayOptions(
    webhooks
      .command('replay')
      .description('send deliveries of a period again, or events that the webhook never got')
      .argument('<id>', 'whk_…'),
  ).action(
    action<ReplayOptions>(open, async (context, options, id) => {
      const { signal } = context.io;
      const replay = await openApi(context).webhooks.replay(id, replayRequestOf(options), { signal });
      showReplay(context.printer, replay);
    }),
  );
}

interface VerifyOptions {
  headers: string;
  body: string;
  computed?: string;
}

function addVerify(webhooks: Command, open: Open): void {
  webhooks
    .command('verify')
    .description('say why your receiver refuses a signature')
    .argument('<id>', 'whk_…')
    .requiredOption(
      '--headers <path>',
      'a file with the received headers, as JSON or one per line; - for standard input',
    )
    .requiredOption('--body <path>', 'a file with the received body; - for standard input')
    .option('--computed <signature>', 'the signature that your code computed')
    .action(
      action<VerifyOptions>(open, async (context, { headers, body, computed }, id) => {
        const { io, printer } = context;
        if (headers === '-' && body === '-') {
          throw new Failure('usage', 'Standard input cannot be both.', 'Give a file for --headers or for --body.');
        }
        const received = {
          headers: readHeaders((await bytesOf(headers, io)).toString('utf8')),
          body_base64: (await bytesOf(body, io)).toString('base64'),
          ...(computed !== undefined && { computed }),
        };
        const check = await openApi(context).webhooks.verifySignature(id, received, { signal: io.signal });
        printer.object(check, signatureCheckFields(check));
      }),
    );
}

function keepSecret({ printer }: Context): void {
  printer.note('Keep the secret now: it cannot be read again.');
}
