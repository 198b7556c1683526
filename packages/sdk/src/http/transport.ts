import { HTTPError, type RequestError, type RetryOptions } from 'got';
import type { CallOptions, Settings } from '../options.ts';
import { type Answer, answerOf, errorCodeOf, errorOf } from './answer.ts';
import { createGotClient, withoutRequest } from './got-client.ts';
import { delayBeforeRepeat, type Failure, mayHaveWorked, type Repeatable } from './repeat.ts';
import { parseRetryAfter } from './retry-after.ts';
import { type Query, targetOf } from './target.ts';

/** One request, with what may be done when it fails. */
export interface TransportRequest {
  method: string;
  /** Below the base URL. */
  path: string;
  query?: Query | undefined;
  headers?: Readonly<Record<string, string | undefined>> | undefined;
  body?: string | Uint8Array | undefined;
  repeatable: Repeatable;
  /** That there is no such resource is as good as success when an earlier attempt may have deleted it. */
  deletes?: boolean;
}

/**
 * Sends a request, again where that is safe, and resolves with an answer below 400.
 *
 * @throws ApiError for an answer from 400 on
 * @throws ConnectionError when no answer came
 */
export type Send = (request: TransportRequest, options?: CallOptions) => Promise<Answer>;

export function createSend(settings: Settings): Send {
  const client = createGotClient(settings);
  return async (request, options = {}) => {
    const { signal } = options;
    signal?.throwIfAborted();
    const failures: Failure[] = [];
    const exchange = client(targetOf(settings.baseUrl, request.path, request.query), {
      // The type knows the usual methods only; got sends any.
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
      const wasDeleted = refused.status === 404 && failures.slice(0, -1).some(mayHaveWorked);
      if (request.deletes && wasDeleted) return { ...refused, status: 204, body: undefined };
      throw errorOf(refused, Date.now());
    }
  };
}

/** got waits and sends again; whether and when is decided by our own rules alone. `failures` gets each failure. */
function retryOf(repeatable: Repeatable, settings: Settings, failures: Failure[]): Partial<RetryOptions> {
  return {
    limit: settings.maxRetries,
    enforceRetryRules: false,
    calculateDelay: ({ error }) => {
      const failure = failureOf(error);
      failures.push(failure);
      // Zero ends the retries.
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
