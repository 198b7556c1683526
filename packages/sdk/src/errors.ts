import type { ApiErrorCode, ApiErrorDetail, ApiErrorType } from './types.ts';

/** What an {@link ApiError} is made of. */
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

/** The API refused the request or failed: every answer that is not the one that was asked for. */
export class ApiError extends Error implements ApiErrorFields {
  override readonly name = 'ApiError';
  /** The HTTP status. */
  readonly status: number;
  /** The kind of remedy there is; null when another service answered in a shape of its own. */
  readonly type: ApiErrorFields['type'];
  /** What went wrong, to branch on; null when another service answered in a shape of its own. */
  readonly code: ApiErrorFields['code'];
  /** `X-Request-Id` of the answer: name it when you ask for help. */
  readonly requestId: string | null;
  /** The first invalid parameter: `events[1]`. */
  readonly param: string | null;
  /** Everything that is invalid. */
  readonly details: readonly ApiErrorDetail[];
  /** With `forbidden_scope`: the scope that the key lacks. */
  readonly requiredScope: string | null;
  /** How long to wait before the request is made again, in seconds; null when the answer does not say. */
  readonly retryAfter: number | null;
  /** The answer's headers, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The answer's body: parsed if it is JSON, else its text. */
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

/** No answer came: the API was not reached, the connection broke, or the time was up. What the request did is unknown. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
  /** The cause as Node.js names it: `ECONNREFUSED`, `ETIMEDOUT`, `ENOTFOUND`, … */
  readonly code: string;

  constructor(message: string, code: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
