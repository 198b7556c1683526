import { HTTPError, type RequestError, type RetryOptions } from 'got';
import type { CallOptions, Settings } from '../options.ts';
import { type Answer, answerOf, errorCodeOf, errorOf } from './answer.ts';
import { createGotClient, withoutRequest } from './got-client.ts';
import { delayBeforeRepeat, type Failure, mayHaveWorked, type Repeatable } from './repeat.ts';
import { parseRetryAfter } from './retry-after.ts';
import { type Query, targetOf } from './target.ts';

/** A request, and whether it may be repeated after a failure. */
export interface TransportRequest {
  method: string;
  /** Relative to the base URL. */
  path: string;
  query?: Query | undefined;
  headers?: Readonly<Record<string, string | undefined>> | undefined;
  body?: string | Uint8Array | undefined;
  repeatable: Repeatable;
  /** Of a DELETE: the status of a repeat. It counts as success if an earlier attempt may have deleted the resource. */
  deletedStatus?: number;
}

/**
 * Sends a request, and repeats it if that is safe. Resolves with an answer below 400.
 *
 * @throws ApiError for a status of 400 or more
 * @throws ConnectionError if no answer arrives
 */
export type Send = (request: TransportRequest, options?: CallOptions) => Promise<Answer>;

export function createSend(settings: Settings): Send {
  const client = createGotClient(settings);
  return async (request, options = {}) => {
    const { signal } = options;
    signal?.throwIfAborted();
    const failures: Failure[] = [];
    const exchange = client(targetOf(settings.baseUrl, request.path, request.query), {
      // got's type lists the common methods only, but got sends any method.
      method: request.method as 'POST',
      responseType: 'buffer',
      headers: { ...request.headers, authorization: `Bearer ${settings.apiKey}` },
      ...(request.body !== undefined && { body: request.body }),
      ...(signal !== undefined && { signal }),
      timeout: { request: options.timeoutMs ?? settings.timeoutMs },
      retry: retryOf(
        request.repeatable,
        { ...settings, maxRetries: options.maxRetries ?? settings.maxRetries },
        failures,
      ),
    });
    try {
      const { statusCode, headers, rawBody } = await exchange;
      return answerOf(statusCode, headers, rawBody);
    } catch (error) {
      signal?.throwIfAborted();
      const refused = refusalOf(error);
      if (refused === null) throw withoutRequest(error);
      const wasDeleted = refused.status === request.deletedStatus && failures.slice(0, -1).some(mayHaveWorked);
      if (wasDeleted) return { ...refused, status: 204, body: undefined };
      throw errorOf(refused, Date.now());
    }
  };
}

/** got waits and repeats the request; our own rules decide whether and when. `failures` collects each failure. */
function retryOf(repeatable: Repeatable, settings: Settings, failures: Failure[]): Partial<RetryOptions> {
  return {
    limit: settings.maxRetries,
    enforceRetryRules: false,
    calculateDelay: ({ error }) => {
      const failure = failureOf(error);
      failures.push(failure);
      // Zero makes got give up.
      return delayBeforeRepeat(failure, failures.length, repeatable, settings, Math.random()) ?? 0;
    },
  };
}

function failureOf(error: unknown): Failure {
  const refused = refusalOf(error);
  if (refused === null) return { connectionCode: (error as RequestError).code, retryAfterMs: null };
  const retryAfterMs = parseRetryAfter(refused.headers['retry-after'], Date.now());
  return { status: refused.status, errorCode: errorCodeOf(refused), retryAfterMs };
}

function refusalOf(error: unknown): Answer | null {
  if (!(error instanceof HTTPError)) return null;
  const { statusCode, headers, rawBody } = error.response;
  return answerOf(statusCode, headers, rawBody);
}
