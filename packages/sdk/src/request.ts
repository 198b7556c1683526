import { randomUUID } from 'node:crypto';
import type { Answer } from './http/answer.ts';
import type { Query } from './http/target.ts';
import type { Send, TransportRequest } from './http/transport.ts';
import { headOf } from './operations.ts';
import type { CallOptions, ResponseHead } from './options.ts';

/** Options of a request to any path. */
export interface RequestOptions extends CallOptions {
  query?: Query | undefined;
  headers?: Readonly<Record<string, string>> | undefined;
  /** Sent as JSON. */
  body?: unknown;
  /** Sent unchanged, instead of `body`. Set its `content-type` in `headers`. */
  rawBody?: string | Uint8Array | undefined;
  /**
   * Set this if the service honours `Idempotency-Key`. The request then gets a key and may be repeated. Otherwise a
   * POST, PUT, PATCH or DELETE is repeated only after 429 `rate_limited`.
   */
  ownerHonoursIdempotencyKey?: boolean | undefined;
  /** Replaces the generated key. Does not by itself allow repeats. */
  idempotencyKey?: string | undefined;
}

export interface ApiResponse<Body> extends ResponseHead {
  /** Parsed if it is JSON, otherwise text; undefined if it is empty. */
  body: Body;
  rawBody: Uint8Array;
}

/** Calls a path without interpreting the answer. */
export type Request = <Body = unknown>(
  method: string,
  path: string,
  options?: RequestOptions,
) => Promise<ApiResponse<Body>>;

export function createRequest(send: Send): Request {
  return async <Body>(method: string, path: string, options: RequestOptions = {}) => {
    const answer: Answer = await send(requestOf(method, path, options), options);
    const head = headOf(answer);
    options.onResponse?.(head);
    return { ...head, body: answer.body as Body, rawBody: answer.rawBody };
  };
}

function requestOf(method: string, path: string, options: RequestOptions): TransportRequest {
  if (!/^[A-Z]+$/.test(method)) throw new TypeError('method must be in upper case: GET.');
  const { query, ownerHonoursIdempotencyKey = false } = options;
  const isRead = method === 'GET' || method === 'HEAD';
  const newKey = ownerHonoursIdempotencyKey && !isRead ? randomUUID() : undefined;
  const key = options.idempotencyKey ?? newKey;
  const isJson = options.rawBody === undefined && options.body !== undefined;
  return {
    method,
    path,
    query,
    headers: {
      ...(isJson && { 'content-type': 'application/json' }),
      ...lowerCase(options.headers),
      ...(key !== undefined && { 'idempotency-key': key }),
    },
    body: isJson ? JSON.stringify(options.body) : options.rawBody,
    repeatable: isRead || ownerHonoursIdempotencyKey ? 'always' : 'when_refused',
  };
}

function lowerCase(headers: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
