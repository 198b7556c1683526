import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { Failure } from '../failure.ts';
import { instant, textOf } from '../input/values.ts';
import { internalApiOf } from '../internal/client.ts';
import { batchesOf, eventText, eventTexts } from '../internal/event-file.ts';
import type { EmittedEvent } from '../internal/types.ts';
import { emittedColumns } from '../present/internal.ts';
import type { GlobalOptions } from '../settings/settings.ts';
import { action } from './action.ts';

interface SendOptions {
  org?: string;
  type?: string;
  data?: string;
  id?: string;
  occurredAt?: string;
  file?: string;
}

export function addSendCommand(events: Command, open: (options: GlobalOptions) => Context): void {
  events
    .command('send')
    .description('emit events, one or a whole file (internal)')
    .option('--org <id>', 'the organization of events that name none')
    .option('--type <type>', 'such as consultation.completed')
    .option('--data <json>', 'an object: text, @file, or - for standard input')
    .option('--id <id>', 'your own id of the event; repeating an id has no effect')
    .option('--occurred-at <time>', 'when it happened', instant())
    .option('--file <path>', 'a file with one event per line as JSON, or with an array of them; - for standard input')
    .action(action<SendOptions>(open, sendEvents));
}

async function sendEvents(context: Context, options: SendOptions): Promise<void> {
  const { printer } = context;
  const api = internalApiOf(context);
  const texts = await readEvents(context, options);
  const progress = printer.progress('Sending');
  const sent: EmittedEvent[] = [];
  try {
    for (const batch of batchesOf(texts)) {
      const { data } = await api.post<{ data: EmittedEvent[] }>(
        '/internal/v1/events',
        `{"events":[${batch.join(',')}]}`,
      );
      sent.push(...data);
      progress.update(sent.length, texts.length);
    }
  } catch (error) {
    progress.end();
    // Each batch is accepted or refused as a whole. Earlier batches stay accepted.
    if (sent.length > 0)
      printer.note(`The API accepted the first ${sent.length} of ${texts.length} events in the file before the error.`);
    throw error;
  }
  progress.end();
  printer.list(sent, emittedColumns, 'There was no event to send.');
}

async function readEvents({ io }: Context, options: SendOptions): Promise<string[]> {
  const { org, type, data, id, occurredAt, file } = options;
  if (file !== undefined) {
    if (type !== undefined || data !== undefined)
      throw new Failure('usage', '--file cannot be combined with --type or --data.');
    return eventTexts(await textOf(file === '-' ? '-' : `@${file}`, io), org);
  }
  if (org === undefined || type === undefined || data === undefined) {
    throw new Failure(
      'usage',
      'An event needs --org, --type and --data.',
      'Such as: --data \'{"consultation_id":"con_1"}\'. Or give --file.',
    );
  }
  return [eventText({ organization_id: org, type, id, occurred_at: occurredAt }, await textOf(data, io))];
}
