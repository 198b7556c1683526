import { once } from 'node:events';
import { buffer } from 'node:stream/consumers';
import type { Response } from 'got';
import type { Settings } from '../options.ts';
import { answerOf, errorOf } from './answer.ts';
import { createGotClient, withoutRequest } from './got-client.ts';
import { type Query, targetOf } from './target.ts';

/** The API writes a comment every 15 s: a stream without a byte for three times as long is broken. */
const longestSilenceMs = 45_000;

/** A stream that was opened. */
interface OpenedStream {
  /** `Last-Event-ID` of the answer: the place where the stream begins; undefined where the API does not name it. */
  lastEventId: string | undefined;
  /** They end, or throw a ConnectionError, when the connection does. */
  chunks: AsyncIterable<Uint8Array>;
}

/**
 * Opens a stream of server-sent events.
 *
 * @throws ApiError when the API refuses
 * @throws ConnectionError when it was not reached
 */
export type OpenStream = (
  path: string,
  query: Query,
  headers: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal | undefined,
) => Promise<OpenedStream>;

/** @param idleMs after so long without a byte a stream has ended, in milliseconds */
export function createOpenStream(settings: Settings, idleMs = longestSilenceMs): OpenStream {
  const client = createGotClient(settings);
  return async (path, query, headers, signal) => {
    const stream = client.stream(targetOf(settings.baseUrl, path, query), {
      headers: { ...headers, accept: 'text/event-stream' },
      ...(signal !== undefined && { signal }),
      timeout: { lookup: 10_000, connect: 10_000, secureConnect: 10_000, response: settings.timeoutMs, socket: idleMs },
      retry: { limit: 0 },
      throwHttpErrors: false,
      // Else got waits for a body to be written.
      allowGetBody: false,
      decompress: false,
    });
    try {
      const [{ statusCode, headers: answered }] = (await once(stream, 'response')) as [Response];
      if (statusCode === 200) {
        // Only of Set-Cookie are several values kept apart.
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
