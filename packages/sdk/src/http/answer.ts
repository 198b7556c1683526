import { type ApiError, type ApiErrorFields, apiErrorOf } from '../errors.ts';
import type { ApiErrorBody } from '../types.ts';
import { parseRetryAfter } from './retry-after.ts';

/** A complete answer with any status. */
export interface Answer {
  status: number;
  /** Names are in lower case. Repeated headers are joined with a comma. */
  headers: Readonly<Record<string, string>>;
  /** The decompressed bytes. */
  rawBody: Uint8Array;
  /** Parsed if it is JSON, otherwise text; undefined if it is empty. */
  body: unknown;
}

export function answerOf(
  status: number,
  headers: Readonly<Record<string, string | string[] | undefined>>,
  rawBody: Uint8Array,
): Answer {
  const joined = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value] as const],
  );
  const flat = Object.fromEntries(joined);
  return { status, headers: flat, rawBody, body: parseBody(rawBody, flat['content-type'] ?? '') };
}

/** An upstream may label any text as JSON, so text that does not parse stays text. */
function parseBody(rawBody: Uint8Array, contentType: string): unknown {
  if (rawBody.length === 0) return undefined;
  const text = new TextDecoder().decode(rawBody);
  if (!/^application\/(?:[\w.-]+\+)?json\b/i.test(contentType)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** `error.code` of an answer, also of a SCIM error; null for any other format. */
export function errorCodeOf({ body }: Answer): string | null {
  return ownError(body)?.code ?? scimError(body)?.code ?? null;
}

/** Converts a refused answer into its error. */
export function errorOf(answer: Answer, now: number): ApiError {
  const { status, headers, body } = answer;
  const own = ownError(body);
  const scim = scimError(body);
  const retryAfterMs = parseRetryAfter(headers['retry-after'], now);
  const fields: ApiErrorFields = {
    status,
    message: own?.message ?? scim?.message ?? `The API answered with status ${status}.`,
    type: own?.type ?? null,
    code: own?.code ?? scim?.code ?? null,
    // A proxy may drop the header.
    requestId: headers['x-request-id'] ?? own?.request_id ?? null,
    param: own?.param ?? null,
    details: own?.details ?? [],
    requiredScope: own?.required_scope ?? null,
    retryAfter: own?.retry_after ?? (retryAfterMs === null ? null : Math.ceil(retryAfterMs / 1_000)),
    headers,
    body,
  };
  return apiErrorOf(fields);
}

function ownError(body: unknown): ApiErrorBody['error'] | null {
  const error = fieldOf(body, 'error');
  return typeof fieldOf(error, 'code') === 'string' && typeof fieldOf(error, 'message') === 'string'
    ? (error as ApiErrorBody['error'])
    : null;
}

/** Below /scim/v2 the API's own errors have SCIM's format: `detail` is `<code>: <message>`. */
function scimError(body: unknown): { code: string; message: string } | null {
  const detail = fieldOf(body, 'detail');
  const [, code, message] = (typeof detail === 'string' && /^([a-z]+(?:_[a-z]+)*): (.+)$/s.exec(detail)) || [];
  return code === undefined || message === undefined ? null : { code, message };
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
