import type { EnterpriseApi, StreamedEvent, StreamOptions } from '@enterprise-api/sdk';
import type { WebhookEvent } from '@enterprise-api/sdk/webhooks';
import type { Printer } from '../output/printer.ts';
import { oneLine } from '../output/text.ts';
import { time } from '../present/format.ts';
import { forward, hintFor, type LocalAnswer } from './forward.ts';
import { headerOf, type Signer } from './own-signature.ts';

export interface ListenOptions {
  /** Patterns of event types; an empty list means all types. */
  events: readonly string[];
  /** The stream begins after this event; by default it begins now. */
  after: string | undefined;
  /** The local program's URL. If undefined, events are only printed. */
  target: string | undefined;
  /** Signs forwarded events. If undefined, they keep the signatures of the stream. */
  sign: Signer | undefined;
  printer: Printer;
  signal: AbortSignal;
}

/** Forwards the events to the local program one at a time, and prints its answers. */
export async function listen(
  api: Pick<EnterpriseApi, 'events'>,
  { events, after, target, sign, printer, signal }: ListenOptions,
): Promise<void> {
  for await (const message of api.events.stream({ events, after, signal, ...noticesTo(printer, sign !== undefined) })) {
    if (target === undefined) printer.record(message.event, () => eventLine(message.event));
    else printAnswer(printer, message, await forward(target, sign?.(message) ?? message, signal));
  }
}

type Notices = Pick<StreamOptions, 'onConnect' | 'onDisconnect' | 'onUnverified'>;

/** Reports connections, losses and unverified events. */
function noticesTo(printer: Printer, hasOwnSecret: boolean): Notices {
  let known: string | null | undefined;
  return {
    onConnect: (streamSecret) => {
      const secret = hasOwnSecret ? null : streamSecret;
      printSecret(printer, secret, known);
      known = secret;
    },
    onDisconnect: (error, retryMs) => {
      const what = known === undefined ? 'No stream is open yet' : 'The stream was lost';
      const why = error?.message ?? 'the API ended it';
      printer.note(`${what}: ${why.replace(/\.$/, '')}. Connecting again in ${(retryMs / 1_000).toFixed(1)} s.`);
    },
    onUnverified: ({ id }) =>
      printer.note(`${id} was not forwarded: this session's secret did not make its signature.`, 'red'),
  };
}

/** Prints the secret of each connection, because the local program needs it to verify events. Null: the user's own. */
function printSecret(printer: Printer, secret: string | null, known: string | null | undefined): void {
  if (secret === known) return printer.note('Connected again.', 'dim');
  if (printer.isJson) return printer.record({ object: 'session', secret }, () => '');
  if (secret === null) printer.text('Ready.');
  else if (known === undefined) printer.text(`Ready. The signing secret of this session is ${oneLine(secret)}`);
  else printer.text(`Connected again. The signing secret is now ${oneLine(secret)}`);
}

const eventLine = ({ id, type, timestamp, data }: WebhookEvent) =>
  oneLine(`${time(timestamp)}  ${type.padEnd(22)}  ${id}  ${JSON.stringify(data)}`);

function printAnswer(printer: Printer, { event, headers }: StreamedEvent, answer: LocalAnswer): void {
  const { status, error, durationMs } = answer;
  const record = {
    object: 'forwarded',
    event_id: event.id,
    event_type: event.type,
    delivery_id: headerOf(headers, 'x-service-delivery-id') ?? null,
    status,
    error,
    duration_ms: durationMs,
  };
  const isGood = status !== null && status >= 200 && status < 300;
  printer.record(record, () => {
    const hint = hintFor(answer);
    const result = `${status ?? error}${hint === undefined ? '' : ` (${hint})`}`;
    return `${oneLine(`${event.type.padEnd(22)}  ${event.id}`)}  ${printer.paint(isGood ? 'green' : 'red', `→ ${result}`)}  ${durationMs} ms`;
  });
}
