import { setTimeout as pause } from 'node:timers/promises';
import { ApiError, ConnectionError } from '../errors.ts';
import type { OpenStream } from '../http/open-stream.ts';
import { isPassingCause } from '../http/repeat.ts';
import { verifyWebhook, type WebhookEvent } from '../webhooks/index.ts';
import { readMessages } from './messages.ts';

export interface StreamOptions {
  /** Patterns as webhooks have them: `batch.*`; all events by default. */
  events?: readonly string[] | undefined;
  /** The id of the event after which the stream begins; by default it begins now. */
  after?: string | undefined;
  /** Ends the stream, without an error. */
  signal?: AbortSignal | undefined;
  /** Called when a connection was made, with the secret that signs its events. */
  onConnect?: ((secret: string) => void) | undefined;
  /** Called when a connection was lost or refused for now, with the time until the next try. */
  onDisconnect?: ((reason: Error | null, retryMs: number) => void) | undefined;
}

/** An event of the stream, verified, with the headers and the body that a delivery of it would have. */
export interface StreamedEvent {
  event: WebhookEvent;
  headers: Readonly<Record<string, string>>;
  body: string;
}

const firstPauseMs = 500;
const longestPauseMs = 15_000;
const longestHintMs = 60_000;

/**
 * Follows the stream of events over as many connections as it takes. Each goes on after the last event that was handed
 * on, so that none is left out and none comes twice. Before there is one, the newest event that existed at the beginning
 * is that place.
 *
 * @throws ApiError when the API refuses for good: the key, its scope, the plan, a place that is unknown or too old
 * @throws ConnectionError when the API cannot be reached for a cause that will not pass, such as a wrong name
 */
export async function* followEvents(
  open: OpenStream,
  newestId: (signal: AbortSignal | undefined) => Promise<string | undefined>,
  { events = [], signal, onConnect, onDisconnect, ...options }: StreamOptions = {},
): AsyncGenerator<StreamedEvent> {
  let after: string | undefined;
  let failures = 0;
  while (!signal?.aborted) {
    let reason: Error | null = null;
    let hintMs = 0;
    try {
      after ??= options.after ?? (await newestId(signal));
      let secret = '';
      const chunks = await open('/v1/events/stream', { events }, { 'last-event-id': after }, signal);
      for await (const message of readMessages(chunks)) {
        if (message.kind === 'retry') hintMs = message.ms;
        else if (message.kind === 'session') {
          failures = 0;
          secret = message.secret;
          onConnect?.(secret);
        } else if (message.id !== after) {
          const { id, headers, body } = message;
          // The connection says who sent it: there is no age to judge, and this machine's clock may be wrong.
          const toleranceSeconds = Number.POSITIVE_INFINITY;
          yield { event: await verifyWebhook({ headers, rawBody: body, secret, toleranceSeconds }), headers, body };
          after = id;
        }
      }
    } catch (error) {
      if (signal?.aborted) return;
      if (!isTemporary(error)) throw error;
      reason = error;
      if (error instanceof ApiError) hintMs = (error.retryAfter ?? 0) * 1_000;
    }
    if (signal?.aborted) return;
    const backoffMs = Math.min(longestPauseMs, firstPauseMs * 2 ** failures++) * (1 - Math.random() / 2);
    const retryMs = Math.max(backoffMs, Math.min(hintMs, longestHintMs));
    onDisconnect?.(reason, retryMs);
    await pause(retryMs, undefined, { signal }).catch(() => undefined);
  }
}

function isTemporary(error: unknown): error is Error {
  if (error instanceof ApiError) return error.status === 429 || error.status >= 500;
  return error instanceof ConnectionError && isPassingCause(error.code);
}
