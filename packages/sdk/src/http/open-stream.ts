import { once } from 'node:events';
import { buffer } from 'node:stream/consumers';
import type { Response } from 'got';
import type { Settings } from '../options.ts';
import { answerOf, errorOf } from './answer.ts';
import { createGotClient, withoutRequest } from './got-client.ts';
import { type Query, targetOf } from './target.ts';

/** The API writes a comment every 15 s. A stream without a byte for three times as long is broken. */
const longestSilenceMs = 45_000;

/** An open stream. */
interface OpenedStream {
  /** `Last-Event-ID` of the answer: the stream begins after this event. Undefined if the API does not name it. */
  lastEventId: string | undefined;
  /** If the connection ends, the iteration ends or throws a ConnectionError. */
  chunks: AsyncIterable<Uint8Array>;
}

/**
 * Opens a stream of server-sent events.
 *
 * @throws ApiError if the API refuses
 * @throws ConnectionError if the API is unreachable
 */
export type OpenStream = (
  path: string,
  query: Query,
  headers: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal | undefined,
) => Promise<OpenedStream>;

/** @param idleMs after this many milliseconds without a byte, the stream counts as ended */
export function createOpenStream(settings: Settings, idleMs = longestSilenceMs): OpenStream {
  const client = createGotClient(settings);
  return async (path, query, headers, signal) => {
    const stream = client.stream(targetOf(settings.baseUrl, path, query), {
      headers: { ...headers, accept: 'text/event-stream' },
      ...(signal !== undefined && { signal }),
      timeout: { lookup: 10_000, connect: 10_000, secureConnect: 10_000, response: settings.timeoutMs, socket: idleMs },
      retry: { limit: 0 },
      throwHttpErrors: false,
      // Otherwise got waits until a body is written.
      allowGetBody: false,
      decompress: false,
    });
    try {
      const [{ statusCode, headers: answered }] = (await once(stream, 'response')) as [Response];
      if (statusCode === 200) {
        // Node.js returns an array only for `Set-Cookie`.
        const lastEventId = answered['last-event-id'] as string | undefined;
        return { lastEventId, chunks: withOwnErrors(stream) };
      }
      throw errorOf(answerOf(statusCode, answered, await buffer(stream)), Date.now());
    } catch (error) {
      throw withoutRequest(error);
    }
  };
}

async function* withOwnErrors(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* stream;
  } catch (error) {
    throw withoutRequest(error, 'The connection broke');
  }
}
