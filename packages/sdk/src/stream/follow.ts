import { setTimeout as pause } from 'node:timers/promises';
import { ApiError, ConnectionError } from '../errors.ts';
import type { OpenStream } from '../http/open-stream.ts';
import { isPassingCause } from '../http/repeat.ts';
import { verifyWebhook, WebhookVerificationError } from '../webhooks/index.ts';
import { readMessages } from './messages.ts';
import type { StreamedEvent, StreamOptions, UnverifiedEvent } from './options.ts';
import { createRecentIds } from './recent-ids.ts';

/** Where the events come from. */
export interface EventSource {
  open: OpenStream;
  /** Pauses between tries, in milliseconds: doubled from the first to the longest. */
  pauses?: { firstMs: number; longestMs: number };
}

const usualPauses = { firstMs: 500, longestMs: 15_000 };
const longestHintMs = 60_000;

/**
 * Follows the stream of events over as many connections as it takes. Each goes on after the last event that was handed
 * on, so that none is left out and none comes twice. Before there is one, that place is where the API says that the first
 * connection began.
 *
 * @throws ApiError when the API refuses for good: the key, its scope, the plan, a place that is unknown or too old
 * @throws ConnectionError when the API was never reached, for a cause that will not pass, such as a wrong name
 * @throws WebhookVerificationError for an event with a wrong signature, unless `onUnverified` takes it
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

/** @returns null when the caller took it as unverified */
async function verify(
  message: UnverifiedEvent,
  secret: string,
  { onUnverified }: StreamOptions,
): Promise<StreamedEvent | null> {
  const { headers, body } = message;
  try {
    // The connection says who sent it: there is no age to judge, and this machine's clock may be wrong.
    const toleranceSeconds = Number.POSITIVE_INFINITY;
    return { ...message, event: await verifyWebhook({ headers, rawBody: body, secret, toleranceSeconds }) };
  } catch (error) {
    if (!(error instanceof WebhookVerificationError) || onUnverified === undefined) throw error;
    onUnverified(message, error);
    return null;
  }
}

/** A name that is not found at the beginning is a wrong one; later on it is a network that is away. */
function isTemporary(error: unknown, wasConnected: boolean): error is Error {
  if (error instanceof ApiError) return error.status === 429 || error.status >= 500;
  return error instanceof ConnectionError && (wasConnected || isPassingCause(error.code));
}

/** Counts the tries since the last connection, and says how long to wait before the next one. */
function createTries({ firstMs, longestMs }: NonNullable<EventSource['pauses']>) {
  let failures = 0;
  return {
    reset: () => {
      failures = 0;
    },
    /** @param hintMs as the API asks */
    nextPauseMs: (hintMs: number): number => {
      const backoffMs = Math.min(longestMs, firstMs * 2 ** failures++) * (1 - Math.random() / 2);
      return Math.max(backoffMs, Math.min(hintMs, longestHintMs));
    },
  };
}
