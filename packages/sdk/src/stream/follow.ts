import { setTimeout as pause } from 'node:timers/promises';
import { ApiError, ConnectionError } from '../errors.ts';
import type { OpenStream } from '../http/open-stream.ts';
import { isPassingCause } from '../http/repeat.ts';
import { verifyWebhook, WebhookVerificationError } from '../webhooks/index.ts';
import { readMessages } from './messages.ts';
import type { StreamedEvent, StreamOptions, UnverifiedEvent } from './options.ts';
import { createRecentIds } from './recent-ids.ts';

/** The source of a stream. */
export interface EventSource {
  open: OpenStream;
  /** Pauses between tries, in milliseconds. They double from `firstMs` to `longestMs`. */
  pauses?: { firstMs: number; longestMs: number };
}

const usualPauses = { firstMs: 500, longestMs: 15_000 };
const longestHintMs = 60_000;

/**
 * Follows the event stream over any number of connections. Each connection continues after the last event that the
 * caller got, so no event is missing or repeated. Before the first event, it continues from the beginning that the API
 * named.
 *
 * @throws ApiError if the API refuses permanently: the key, its scope, the plan, or an event id that is unknown or too
 *   old
 * @throws ConnectionError if the API was never reached and another try would fail too, such as for a wrong name
 * @throws WebhookVerificationError if an event's signature is wrong and there is no `onUnverified`
 */
export async function* followEvents(
  { open, pauses = usualPauses }: EventSource,
  options: StreamOptions = {},
): AsyncGenerator<StreamedEvent> {
  const { events = [], signal, onConnect, onDisconnect } = options;
  const handedOn = createRecentIds();
  let { after } = options;
  const tries = createTries(pauses);
  let wasConnected = false;
  while (!signal?.aborted) {
    let reason: Error | null = null;
    let hintMs = 0;
    try {
      let secret = '';
      const opened = await open('/v1/events/stream', { events }, { 'last-event-id': after }, signal);
      after ??= opened.lastEventId;
      for await (const message of readMessages(opened.chunks)) {
        if (message.kind === 'retry') hintMs = message.ms;
        else if (message.kind === 'place') after = message.id;
        else if (message.kind === 'session') {
          ({ secret } = message);
          wasConnected = true;
          tries.reset();
          onConnect?.(secret);
        } else if (message.id !== after && handedOn.isNew(message.id)) {
          const { id, headers, body } = message;
          const verified = await verify({ id, headers, body }, secret, options);
          if (verified !== null) yield verified;
          after = id;
        }
        if (signal?.aborted) return;
      }
    } catch (error) {
      if (signal?.aborted) return;
      if (!isTemporary(error, wasConnected)) throw error;
      reason = error;
      if (error instanceof ApiError) hintMs = (error.retryAfter ?? 0) * 1_000;
    }
    if (signal?.aborted) return;
    const retryMs = tries.nextPauseMs(hintMs);
    onDisconnect?.(reason, retryMs);
    await pause(retryMs, undefined, { signal }).catch(() => undefined);
  }
}

/** @returns null if `onUnverified` handled the event */
async function verify(
  message: UnverifiedEvent,
  secret: string,
  { onUnverified }: StreamOptions,
): Promise<StreamedEvent | null> {
  const { headers, body } = message;
  try {
    // The connection authenticates the sender, so the event's age does not matter, and this machine's clock may be
    // wrong.
    const toleranceSeconds = Number.POSITIVE_INFINITY;
    return { ...message, event: await verifyWebhook({ headers, rawBody: body, secret, toleranceSeconds }) };
  } catch (error) {
    if (!(error instanceof WebhookVerificationError) || onUnverified === undefined) throw error;
    onUnverified(message, error);
    return null;
  }
}

/** Before the first connection, an unknown name is a mistake. Later it means that the network is down. */
function isTemporary(error: unknown, wasConnected: boolean): error is Error {
  if (error instanceof ApiError) return error.status === 429 || error.status >= 500;
  return error instanceof ConnectionError && (wasConnected || isPassingCause(error.code));
}

/** Counts the tries since the last connection, and computes the pause before the next try. */
function createTries({ firstMs, longestMs }: NonNullable<EventSource['pauses']>) {
  let failures = 0;
  return {
    reset: () => {
      failures = 0;
    },
    /** @param hintMs the pause that the API asked for */
    nextPauseMs: (hintMs: number): number => {
      const backoffMs = Math.min(longestMs, firstMs * 2 ** failures++) * (1 - Math.random() / 2);
      return Math.max(backoffMs, Math.min(hintMs, longestHintMs));
    },
  };
}
