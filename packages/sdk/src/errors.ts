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

/** The API refused the request, or failed to process it. Its subclasses name the kind of error. */
export class ApiError extends Error implements ApiErrorFields {
  override readonly name: string = 'ApiError';
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

/** 400, 413, 415, 422: the API cannot process this request. Change the request. */
export class InvalidRequestError extends ApiError {
  override readonly name = 'InvalidRequestError';
}

/** 401: the key is unknown, revoked or expired. */
export class AuthenticationError extends ApiError {
  override readonly name = 'AuthenticationError';
}

/** 403: the key may not do this here. `code` tells whether the scope, the address or the plan is the reason. */
export class PermissionError extends ApiError {
  override readonly name = 'PermissionError';
}

/** 404, 410: the object does not exist, or no longer. */
export class NotFoundError extends ApiError {
  override readonly name = 'NotFoundError';
}

/** 409, 412: the state of the object, or of an earlier request, does not allow this. */
export class ConflictError extends ApiError {
  override readonly name = 'ConflictError';
}

/** 429: too many requests. `retryAfter` is the number of seconds to wait. */
export class RateLimitError extends ApiError {
  override readonly name = 'RateLimitError';
}

/** 5xx: the outcome of a change is unknown. Repeat it with the same idempotency key. */
export class ServerError extends ApiError {
  override readonly name = 'ServerError';
}

const classes: Readonly<Record<number, typeof ApiError>> = {
  400: InvalidRequestError,
  401: AuthenticationError,
  403: PermissionError,
  404: NotFoundError,
  409: ConflictError,
  410: NotFoundError,
  412: ConflictError,
  413: InvalidRequestError,
  415: InvalidRequestError,
  422: InvalidRequestError,
  429: RateLimitError,
};

/** Creates the error of the class for its status. A status without a class gives a plain `ApiError`. */
export function apiErrorOf(fields: ApiErrorFields): ApiError {
  const ofKind = classes[fields.status] ?? (fields.status >= 500 ? ServerError : ApiError);
  return new ofKind(fields);
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
