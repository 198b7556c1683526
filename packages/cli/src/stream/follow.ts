import { setTimeout as pause } from 'node:timers/promises';
import type { EnterpriseApi } from '@enterprise-api/sdk';
import { ApiError } from '@enterprise-api/sdk';
import { isTemporary } from '../explain.ts';
import { connectStream, type StreamRequest } from './connect.ts';
import { readMessages, type StreamMessage } from './messages.ts';

export type EventMessage = Extract<StreamMessage, { kind: 'event' }>;

/** What happens while a stream is followed. */
export type Followed =
  /** A connection was made; events carry signatures with this secret from here on. */
  | { kind: 'session'; secret: string; isFirst: boolean }
  | EventMessage
  /** The connection is gone; the next try is so many milliseconds away. */
  | { kind: 'lost'; reason: string; retryMs: number };

export interface FollowOptions extends StreamRequest {
  /** Pauses between tries, in milliseconds: doubled from the first to the longest. For tests. */
  pauses?: { firstMs: number; longestMs: number };
}

/** Events that were handed on lately are known, should one come twice. */
const rememberedIds = 10_000;

/**
 * Follows the events of the organization over as many connections as it takes. Each connection goes on after the last
 * event that was handed on, so that none is left out, and none is handed on twice. Ends with the signal.
 *
 * @throws ApiError when the API refuses for good: the key, its scope, the plan, or a place that is unknown or too old
 */
export async function* followEvents(options: FollowOptions): AsyncGenerator<Followed> {
  const { signal, pauses = { firstMs: 500, longestMs: 15_000 } } = options;
  const handedOn = createRecentIds();
  let { after } = options;
  let isFirst = true;
  let failures = 0;
  let hintMs: number | undefined;
  while (!signal.aborted) {
    let reason = 'the API ended the stream';
    try {
      for await (const message of readMessages(await connectStream({ ...options, after }))) {
        if (message.kind === 'retry') hintMs = message.ms;
        else if (message.kind === 'session') {
          failures = 0;
          yield { ...message, isFirst };
          isFirst = false;
        } else if (handedOn.isNew(message.id)) {
          yield message;
          after = message.id;
        }
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!isTemporary(error)) throw error;
      reason = error instanceof Error ? error.message : String(error);
      if (error instanceof ApiError && error.retryAfter !== null) hintMs = error.retryAfter * 1_000;
    }
    if (signal.aborted) return;
    const backoffMs = Math.min(pauses.longestMs, pauses.firstMs * 2 ** failures++);
    const retryMs = Math.max(Math.min(hintMs ?? 0, 60_000), backoffMs);
    hintMs = undefined;
    yield { kind: 'lost', reason, retryMs };
    await pause(retryMs, undefined, { signal }).catch(() => undefined);
  }
}

function createRecentIds() {
  const ids = new Set<string>();
  return {
    isNew: (id: string) => {
      if (ids.has(id)) return false;
      ids.add(id);
      const [oldest] = ids;
      if (ids.size > rememberedIds && oldest !== undefined) ids.delete(oldest);
      return true;
    },
  };
}

/**
 * The newest event that there is: a stream that begins after it, and not just now, misses nothing when it is lost before
 * its first event. Undefined when the organization has none yet.
 */
export async function newestEventId(
  api: Pick<EnterpriseApi, 'events'>,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { data } = await api.events.list({ limit: 1 }, { signal }).page();
  return data[0]?.id;
}
