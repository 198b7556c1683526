import { once } from 'node:events';
import { ApiError, ConnectionError } from '@enterprise-api/sdk';
import got, { RequestError, type Response } from 'got';
import type { Access } from '../settings/settings.ts';
import { userAgent } from '../version.ts';

export interface StreamRequest {
  access: Access;
  /** Patterns of types; all when there is none. */
  events: readonly string[];
  /** The event after which the stream begins; now when there is none. */
  after: string | undefined;
  signal: AbortSignal;
}

/** The API writes a comment every 15 s: a stream without a byte for three times as long is broken. */
const idleMs = 45_000;

/**
 * Opens the stream of events. The bytes end, or throw, when the connection does.
 *
 * @throws ApiError when the API refuses
 * @throws ConnectionError when it was not reached
 */
export async function connectStream({
  access,
  events,
  after,
  signal,
}: StreamRequest): Promise<AsyncIterable<Uint8Array>> {
  const url = new URL(`${access.url}/v1/events/stream`);
  for (const pattern of events) url.searchParams.append('events', pattern);
  const stream = got.stream(url, {
    headers: {
      authorization: `Bearer ${access.secret}`,
      accept: 'text/event-stream',
      'user-agent': userAgent,
      ...(after !== undefined && { 'last-event-id': after }),
    },
    signal,
    timeout: { lookup: 10_000, connect: 10_000, secureConnect: 10_000, response: 30_000, socket: idleMs },
    retry: { limit: 0 },
    throwHttpErrors: false,
    // The key goes to the API's address and nowhere else.
    followRedirect: false,
    decompress: false,
  });
  try {
    const [response] = (await once(stream, 'response')) as [Response];
    if (response.statusCode !== 200) throw refusal(response, await readText(stream));
    return withOwnErrors(stream);
  } catch (error) {
    throw ownError(error);
  }
}

async function* withOwnErrors(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* stream;
  } catch (error) {
    throw ownError(error);
  }
}

/** got's own errors hold the request, and with it the key: only their words are passed on. */
function ownError(error: unknown): unknown {
  return error instanceof RequestError ? new ConnectionError(error.message, error.code) : error;
}

const longestRefusal = 64 * 1024;

async function readText(stream: AsyncIterable<Uint8Array>): Promise<string> {
  let text = '';
  for await (const chunk of stream) {
    text += Buffer.from(chunk).toString('utf8');
    if (text.length > longestRefusal) break;
  }
  return text;
}

function refusal({ statusCode, headers }: Response, text: string): ApiError {
  const error = errorOf(text);
  const retryAfter = Number(headers['retry-after']);
  return new ApiError({
    status: statusCode,
    message: error.message ?? `The API answered with status ${statusCode}.`,
    type: null,
    code: error.code ?? null,
    requestId: typeof headers['x-request-id'] === 'string' ? headers['x-request-id'] : null,
    param: null,
    details: [],
    requiredScope: error.required_scope ?? null,
    retryAfter: Number.isFinite(retryAfter) ? retryAfter : null,
    headers: {},
    body: text,
  });
}

function errorOf(text: string): { code?: string; message?: string; required_scope?: string } {
  try {
    return (JSON.parse(text) as { error?: object }).error ?? {};
  } catch {
    return {};
  }
}
