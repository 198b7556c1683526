import { z } from 'zod';

/** The type of an error: what kind of remedy a client has. */
export type ErrorType =
  | 'authentication_error'
  | 'permission_error'
  | 'invalid_request_error'
  | 'rate_limit_error'
  | 'api_error';

/** The catalogue of error codes: status, type, and the public message unless the code that refuses the request has a more precise one. */
export const errorCatalogue = {
  unauthorized: {
    status: 401,
    type: 'authentication_error',
    message: 'The API key is missing, malformed, unknown, revoked or expired.',
  },
  ip_not_allowed: {
    status: 403,
    type: 'permission_error',
    message: 'This API key may not be used from this address.',
  },
  plan_no_api_access: {
    status: 403,
    type: 'permission_error',
    message: "The organization's plan has no API access.",
  },
  forbidden_scope: {
    status: 403,
    type: 'permission_error',
    message: 'This API key lacks the scope that the endpoint requires.',
  },
  rate_limited: { status: 429, type: 'rate_limit_error', message: 'Too many requests. Try again later.' },
  invalid_json: { status: 400, type: 'invalid_request_error', message: 'The body is not valid JSON.' },
  validation_failed: { status: 400, type: 'invalid_request_error', message: 'The request is not valid.' },
  invalid_cursor: {
    status: 400,
    type: 'invalid_request_error',
    message: 'The cursor is not one of this list with these filters.',
  },
  url_not_allowed: { status: 400, type: 'invalid_request_error', message: 'This URL cannot receive deliveries.' },
  not_found: { status: 404, type: 'invalid_request_error', message: 'There is no such resource.' },
  method_not_allowed: {
    status: 405,
    type: 'invalid_request_error',
    message: 'This path does not support this method.',
  },
  conflict: { status: 409, type: 'invalid_request_error', message: 'The resource is not in a state that allows this.' },
  limit_reached: { status: 409, type: 'invalid_request_error', message: 'The organization has reached a limit.' },
  event_expired: {
    status: 410,
    type: 'invalid_request_error',
    message: 'The event lies before what is kept.',
  },
  precondition_failed: {
    status: 412,
    type: 'invalid_request_error',
    message: 'The resource has changed since it was read.',
  },
  payload_too_large: { status: 413, type: 'invalid_request_error', message: 'The body is too large.' },
  unsupported_media_type: {
    status: 415,
    type: 'invalid_request_error',
    message: 'Send an uncompressed body with Content-Type: application/json in UTF-8.',
  },
  idempotency_key_reused: {
    status: 422,
    type: 'invalid_request_error',
    message: 'This Idempotency-Key was used with another request.',
  },
  idempotency_in_progress: {
    status: 409,
    type: 'invalid_request_error',
    message: 'A request with this Idempotency-Key is still running.',
  },
  request_timeout: {
    status: 408,
    type: 'invalid_request_error',
    message: 'The request did not arrive in time. Send it again.',
  },
  malformed_request: { status: 400, type: 'invalid_request_error', message: 'The request is not valid HTTP.' },
  upstream_unavailable: {
    status: 502,
    type: 'api_error',
    message: 'The service that owns this path is unavailable.',
  },
  upstream_timeout: {
    status: 504,
    type: 'api_error',
    message: 'The service that owns this path did not answer in time.',
  },
  internal_error: { status: 500, type: 'api_error', message: 'Something went wrong on our side.' },
  service_unavailable: {
    status: 503,
    type: 'api_error',
    message: 'The service cannot answer right now. Try again shortly.',
  },
} as const satisfies Record<string, { status: number; type: ErrorType; message: string }>;

export type ErrorCode = keyof typeof errorCatalogue;

/** One problem of a request: its place and its cause. */
export const errorDetailSchema = z
  .strictObject({
    location: z.enum(['body', 'query', 'path', 'header']),
    path: z.string().describe('The field, parameter or header; empty for the whole.'),
    code: z.string().describe('What is wrong, for programs: `required`, `too_big`, `unknown_field`, …'),
    message: z.string().describe('What is wrong, for people. It goes on after the path.'),
  })
  .meta({
    id: 'ErrorDetail',
    description: 'One problem of a request: its place and its cause.',
    examples: [{ location: 'body', path: 'events[1]', code: 'invalid_value', message: 'must be one of: *' }],
  });
export type ErrorDetail = z.infer<typeof errorDetailSchema>;

/** The body of every error answer. */
export const errorBodySchema = z
  .strictObject({
    error: z.strictObject({
      type: z
        .enum(['authentication_error', 'permission_error', 'invalid_request_error', 'rate_limit_error', 'api_error'])
        .meta({ id: 'ErrorType', description: 'What kind of remedy there is.', examples: ['invalid_request_error'] }),
      code: z.enum(Object.keys(errorCatalogue) as [ErrorCode, ...ErrorCode[]]).meta({
        id: 'ErrorCode',
        description: 'What went wrong, for programs.',
        examples: ['validation_failed'],
      }),
      message: z.string().describe('What went wrong, for people. Its wording may change.'),
      request_id: z.string().describe('`X-Request-Id` of the answer. Name it when you ask for help.'),
      param: z.string().optional().describe('Of an invalid request: the first field that is wrong.'),
      details: z.array(errorDetailSchema).optional().describe('Of an invalid request: everything that is wrong.'),
      required_scope: z.string().optional().describe('Of `forbidden_scope`: the scope that the key lacks.'),
      retry_after: z.number().int().optional().describe('Of `rate_limited`: seconds to wait, as in `Retry-After`.'),
    }),
  })
  .meta({
    id: 'Error',
    description: 'The body of every error.',
    examples: [
      {
        error: {
          type: 'invalid_request_error',
          code: 'not_found',
          message: errorCatalogue.not_found.message,
          request_id: 'req_01jd6kz5r8e2v9qxm3c7t4b0na',
        },
      },
    ],
  });
export type ErrorBody = z.infer<typeof errorBodySchema>;
