import { verifyWebhook, type WebhookEvent, WebhookVerificationError } from '@enterprise-api/sdk/webhooks';
import type { Printer } from '../output/printer.ts';
import { oneLine } from '../output/text.ts';
import { time } from '../present/format.ts';
import type { EventMessage, Followed } from '../stream/follow.ts';
import { forward, hintFor, type LocalAnswer } from './forward.ts';
import { headerOf, type Signer } from './own-signature.ts';

export interface ListenOptions {
  /** Where the local program listens; undefined: events are printed only. */
  target: string | undefined;
  /** Signs what is forwarded. */
  sign: Signer;
  printer: Printer;
  signal: AbortSignal;
}

/** Verifies each event of a stream, forwards it to the local program, one after the other, and prints what it answered. */
export async function listen(
  messages: AsyncIterable<Followed>,
  { target, sign, printer, signal }: ListenOptions,
): Promise<void> {
  let secret = '';
  for await (const message of messages) {
    if (message.kind === 'session') {
      printSession(printer, message, message.secret === secret);
      secret = message.secret;
    } else if (message.kind === 'lost') {
      printer.note(
        `The stream was lost: ${message.reason}. Connecting again in ${(message.retryMs / 1_000).toFixed(1)} s.`,
      );
    } else {
      const event = await verify(message, secret);
      if (event === undefined) refuse(printer, message);
      else if (target === undefined) printer.record(event, () => eventLine(event));
      else printAnswer(printer, event, message, await forward(target, sign(message), signal));
    }
  }
}

type Session = Extract<Followed, { kind: 'session' }>;

/** The secret is what the local program verifies with, so it is printed, also when a new connection has another one. */
function printSession(printer: Printer, { secret, isFirst }: Session, isKnown: boolean): void {
  if (isKnown) return printer.note('Connected again.', 'dim');
  if (printer.isJson) return printer.record({ object: 'session', secret }, () => '');
  if (isFirst) printer.text(`Ready. The signing secret of this session is ${oneLine(secret)}`);
  else printer.text(`Connected again. The signing secret is now ${oneLine(secret)}`);
}

/** @returns undefined when the signature is not of the session's secret */
async function verify({ headers, body }: EventMessage, secret: string): Promise<WebhookEvent | undefined> {
  try {
    // The connection tells that it is new: a message may wait in it, and this machine's clock may be wrong.
    return await verifyWebhook({ headers, rawBody: body, secret, toleranceSeconds: Number.POSITIVE_INFINITY });
  } catch (error) {
    if (error instanceof WebhookVerificationError) return undefined;
    throw error;
  }
}

function refuse(printer: Printer, { id }: EventMessage): void {
  printer.note(`${id} was not forwarded: its signature is not of this session's secret.`, 'red');
}

const eventLine = ({ id, type, timestamp, data }: WebhookEvent) =>
  oneLine(`${time(timestamp)}  ${type.padEnd(22)}  ${id}  ${JSON.stringify(data)}`);

function printAnswer(printer: Printer, event: WebhookEvent, { headers }: EventMessage, answer: LocalAnswer): void {
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
