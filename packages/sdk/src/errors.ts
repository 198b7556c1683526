import type { ApiErrorCode, ApiErrorDetail, ApiErrorType } from './types.ts';

/** The parts of an {@link ApiError}. */
export interface ApiErrorFields {
  status: number;
  message: string;
  type: ApiErrorType | null;
  code: ApiErrorCode | (string & {}) | null;
  requestId: string | null;
  param: string | null;
  details: readonly ApiErrorDetail[];
  requiredScope: string | null;
  retryAfter: number | null;
  headers: Readonly<Record<string, string>>;
  body: unknown;
}

/** The API refused the request, or failed to process it. */
export class ApiError extends Error implements ApiErrorFields {
  override readonly name = 'ApiError';
  /** The HTTP status. */
  readonly status: number;
  /** The kind of remedy; null if the error does not have the API's format. */
  readonly type: ApiErrorFields['type'];
  /** The cause, for your code to branch on; null if the error does not have the API's format. */
  readonly code: ApiErrorFields['code'];
  /** `X-Request-Id` of the answer. Include it when you ask for help. */
  readonly requestId: string | null;
  /** The first invalid parameter: `events[1]`. */
  readonly param: string | null;
  /** Every invalid parameter. */
  readonly details: readonly ApiErrorDetail[];
  /** With `forbidden_scope`: the missing scope. */
  readonly requiredScope: string | null;
  /** Seconds to wait before the next try; null if the answer names no time. */
  readonly retryAfter: number | null;
  /** The answer's headers, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The answer's body: parsed if it is JSON, otherwise text. */
  readonly body: unknown;

  constructor(fields: ApiErrorFields) {
    super(fields.message);
    this.status = fields.status;
    this.type = fields.type;
    this.code = fields.code;
    this.requestId = fields.requestId;
    this.param = fields.param;
    this.details = fields.details;
    this.requiredScope = fields.requiredScope;
    this.retryAfter = fields.retryAfter;
    this.headers = fields.headers;
    this.body = fields.body;
  }
}

/**
 * No answer arrived: the API was unreachable, the connection broke, or the time limit passed. The outcome of the
 * request is unknown.
 */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
  /** The cause in Node.js's terms: `ECONNREFUSED`, `ETIMEDOUT`, `ENOTFOUND`, … */
  readonly code: string;

  constructor(message: string, code: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
