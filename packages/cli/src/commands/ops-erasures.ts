import { type Command, InvalidArgumentError } from 'commander';
import type { Context } from '../context.ts';
import { Failure } from '../failure.ts';
import { confirm, readSubject } from '../input/ask.ts';
import { publicId } from '../input/ids.ts';
import { instant, listOf } from '../input/values.ts';
import { internalApiOf } from '../internal/client.ts';
import type { Erasure, ErasureRecord } from '../internal/types.ts';
import type { Io } from '../io.ts';
import { erasureColumns, erasureFields } from '../present/erasures.ts';
import type { GlobalOptions } from '../settings/settings.ts';
import { action } from './action.ts';
import { collect, type PagingOptions, pageSize, withPaging } from './paging.ts';

type Open = (options: GlobalOptions) => Context;

const path = '/internal/v1/erasures';

export function addErasureCommands(ops: Command, open: Open): Command {
  addErase(ops, open);
  const erasures = ops.command('erasures').description('receipts of erasures, and repeating them after a restore');
  addReceipts(erasures, open);
  return erasures;
}

interface EraseOptions {
  subject?: boolean;
  event?: string[];
  before?: string;
  all?: boolean;
  reason?: string;
  dryRun?: boolean;
  yes?: boolean;
}

function addErase(ops: Command, open: Open): void {
  ops
    .command('erase')
    .description('erase events of an organization; give exactly one of --subject, --event, --before and --all')
    .argument('<organization>', 'org_…')
    .option('--subject', 'the events about a subject, which is read from standard input')
    .option('--event <ids>', 'events by their ids (evt_…)', listOf)
    .option('--before <time>', 'the events accepted before this time; or how long ago, such as 30d', instant())
    .option('--all', 'every event')
    .option('--reason <ticket>', 'a ticket number, never a name: the receipt keeps it', reason)
    .option('--dry-run', 'count what would be erased')
    .option('--yes', 'do not ask')
    .option('--actor <name>', 'the person who asked for this, for the audit log')
    .action(
      action<EraseOptions>(open, async (context, options, organization) => {
        const organizationId = publicId('org', organization);
        const body = { organization_id: organizationId, ...(await selectionOf(options, context.io)) };
        await mustBeSure(context.io, options, organizationId);
        const erasure = await internalApiOf(context).post<Erasure>(path, {
          ...body,
          ...((options.before !== undefined || options.all) && { confirm: organizationId }),
          ...(options.reason !== undefined && { reason: options.reason }),
          ...(options.dryRun && { dry_run: true }),
        });
        context.printer.object(erasure, erasureFields(erasure));
      }),
    );
}

const reason = (text: string) => {
  if (Array.from(text).length <= 200) return text;
  throw new InvalidArgumentError('It must have at most 200 characters.');
};

async function selectionOf({ subject, event, before, all }: EraseOptions, io: Io): Promise<object> {
  const given = [subject, event, before, all].filter((each) => each !== undefined);
  if (given.length !== 1) {
    throw new Failure('usage', 'Give exactly one of --subject, --event, --before and --all.');
  }
  if (event !== undefined) return { event_ids: event.map((id) => publicId('evt', id)) };
  if (before !== undefined) return { before };
  return all ? { all: true } : { subject: await readSubject(io) };
}

async function mustBeSure(io: Io, { yes, dryRun, subject }: EraseOptions, organizationId: string): Promise<void> {
  // Standard input has ended with the subject.
  if (yes || dryRun || subject) return;
  if (await confirm(io, `Erase data of ${organizationId} for good?`)) return;
  throw new Failure('usage', 'Nothing was erased.', 'Answer y, or give --yes.');
}

interface ListOptions extends PagingOptions {
  organization?: string;
  running?: boolean;
}

function addReceipts(erasures: Command, open: Open): void {
  withPaging(erasures.command('list').description('list receipts, newest first'))
    .option('--organization <id>', 'only of this organization (org_…)')
    .option('--running', 'only erasures that still run')
    .action(
      action<ListOptions>(open, async (context, options) => {
        const { organization, running } = options;
        const query = {
          limit: pageSize(options),
          ...(organization !== undefined && { organization_id: publicId('org', organization) }),
          ...(running && { state: 'running' }),
        };
        const list = internalApiOf(context).list<Erasure>(path, query);
        context.printer.list(await collect(context, list, options), erasureColumns, 'There is no erasure.');
      }),
    );
  erasures
    .command('show')
    .description('show one receipt')
    .argument('<id>', 'ers_…')
    .action(
      action(open, async (context, _options, id) => {
        const erasure = await internalApiOf(context).get<Erasure>(`${path}/${encodeURIComponent(publicId('ers', id))}`);
        context.printer.object(erasure, erasureFields(erasure));
      }),
    );
  erasures
    .command('export')
    .description('print what must be done again after a restore, one JSON object a line')
    .addHelpText('after', '\nIncludes closed organizations and revoked keys. Keep the output with the backups.')
    .action(
      action(open, async (context) => {
        const records = internalApiOf(context).list<ErasureRecord>('/internal/v1/erasure-records', { limit: 100 });
        for await (const record of records) context.printer.raw(`${JSON.stringify(record)}\n`);
      }),
    );
}
