import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import got, { type Got, HTTPError, RequestError, type RetryOptions } from 'got';
import { ConnectionError } from '../errors.ts';
import type { CallOptions, Settings } from '../options.ts';
import { version } from '../version.ts';
import { type Answer, answerOf, errorCodeOf, errorOf } from './answer.ts';
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
  const client = createClient(settings);
  return async (request, options = {}) => {
    const { signal } = options;
    signal?.throwIfAborted();
    const failures: Failure[] = [];
    const exchange = client(targetOf(settings.baseUrl, request.path, request.query), {
      // The type knows the usual methods only; got sends any.
      method: request.method as 'POST',
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
      if (refused === null) throw connectionError(error);
      const wasDeleted = refused.status === 404 && failures.slice(0, -1).some(mayHaveWorked);
      if (request.deletes && wasDeleted) return { ...refused, status: 204, body: undefined };
      throw errorOf(refused, Date.now());
    }
  };
}

function createClient({ apiKey, userAgent }: Settings): Got {
  const own = `enterprise-api-sdk/${version} node/${process.versions.node}`;
  return got.extend({
    headers: {
      'user-agent': userAgent === null ? own : `${userAgent} ${own}`,
      accept: 'application/json',
      authorization: `Bearer ${apiKey}`,
    },
    agent: { http: new HttpAgent({ keepAlive: true }), https: new HttpsAgent({ keepAlive: true }) },
    // The key goes to the base URL and nowhere else.
    followRedirect: false,
    allowGetBody: true,
    responseType: 'buffer',
  });
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

/** got's own error holds the request, and with it the key: only its words are passed on. */
function connectionError(error: unknown): unknown {
  if (!(error instanceof RequestError)) return error;
  return new ConnectionError(`The API gave no answer: ${error.message}`, error.code);
}
