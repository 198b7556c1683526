import { z } from 'zod';

/** Errors of one type need the same kind of remedy by the client. */
const errorTypes = [
  'authentication_error',
  'permission_error',
  'invalid_request_error',
  'rate_limit_error',
  'api_error',
] as const;
export type ErrorType = (typeof errorTypes)[number];

/**
 * The status, type and default message of each error code. Code that refuses a request may give a more precise message.
 */
export const errorCatalogue = {
  ...errorsOf(401, 'authentication_error', {
    unauthorized: 'The API key is missing, malformed, unknown, revoked or expired.',
  }),
  ...errorsOf(403, 'permission_error', {
    ip_not_allowed: 'This API key may not be used from this address.',
    plan_no_api_access: "The organization's plan has no API access.",
    forbidden_scope: 'This API key lacks the scope that the endpoint requires.',
    forbidden_origin: 'This request does not come from a page of the console.',
    bodies_hidden: 'This session does not show the bodies of events.',
  }),
  ...errorsOf(429, 'rate_limit_error', { rate_limited: 'Too many requests. Try again later.' }),
  ...errorsOf(400, 'invalid_request_error', {
    invalid_json: 'The body is not valid JSON.',
    validation_failed: 'The request is not valid.',
    invalid_cursor: 'This cursor belongs to another list or other filters.',
    url_not_allowed: 'This URL cannot receive deliveries.',
    malformed_request: 'The request is not valid HTTP.',
  }),
  ...errorsOf(404, 'invalid_request_error', { not_found: 'There is no such resource.' }),
  ...errorsOf(405, 'invalid_request_error', { method_not_allowed: 'This path does not support this method.' }),
  ...errorsOf(409, 'invalid_request_error', {
    conflict: 'The current state of the resource does not allow this.',
    limit_reached: 'The organization has reached a limit.',
    idempotency_in_progress: 'A request with this Idempotency-Key is still running.',
  }),
  ...errorsOf(410, 'invalid_request_error', { event_expired: 'This position is past retention.' }),
  ...errorsOf(412, 'invalid_request_error', { precondition_failed: 'The resource has changed since it was read.' }),
  ...errorsOf(413, 'invalid_request_error', { payload_too_large: 'The body is too large.' }),
  ...errorsOf(415, 'invalid_request_error', {
    unsupported_media_type: 'Send an uncompressed body with Content-Type: application/json in UTF-8.',
  }),
  ...errorsOf(422, 'invalid_request_error', {
    idempotency_key_reused: 'This Idempotency-Key was used with another request.',
  }),
  ...errorsOf(408, 'invalid_request_error', { request_timeout: 'The request did not arrive in time. Send it again.' }),
  ...errorsOf(502, 'api_error', { upstream_unavailable: 'The service that owns this path is unavailable.' }),
  ...errorsOf(504, 'api_error', { upstream_timeout: 'The service that owns this path did not answer in time.' }),
  ...errorsOf(500, 'api_error', { internal_error: 'Something went wrong on our side.' }),
  ...errorsOf(503, 'api_error', { service_unavailable: 'The service cannot answer right now. Try again shortly.' }),
};

export type ErrorCode = keyof typeof errorCatalogue;

function errorsOf<Code extends string>(status: number, type: ErrorType, messages: Readonly<Record<Code, string>>) {
  const entries = Object.entries<string>(messages).map(([code, message]) => [code, { status, type, message }] as const);
  return Object.fromEntries(entries) as Record<Code, { status: number; type: ErrorType; message: string }>;
}

export const errorDetailSchema = z
  .strictObject({
    location: z.enum(['body', 'query', 'path', 'header']).describe('The part of the request.'),
    path: z.string().describe('The field, parameter or header; empty for the whole.'),
    code: z.string().describe('The cause, for programs: `required`, `too_big`, `unknown_field`, …'),
    message: z.string().describe('The cause, for people. Read it after the path.'),
  })
  .meta({
    id: 'ErrorDetail',
    description: 'One problem of a request: its place and its cause.',
    examples: [{ location: 'body', path: 'events[1]', code: 'invalid_value', message: 'must be one of: *' }],
  });
export type ErrorDetail = z.infer<typeof errorDetailSchema>;

const errorTypeSchema = z.enum(errorTypes).meta({
  id: 'ErrorType',
  description: 'The kind of error. Errors of one kind need the same remedy.',
  examples: ['invalid_request_error'],
});

const errorCodeSchema = z.enum(Object.keys(errorCatalogue) as [ErrorCode, ...ErrorCode[]]).meta({
  id: 'ErrorCode',
  description: 'The cause of an error, for programs.',
  examples: ['validation_failed'],
});

export const errorBodySchema = z
  .strictObject({
    error: z
      .strictObject({
        type: errorTypeSchema.describe('The kind of error.'),
        code: errorCodeSchema.describe('The code of the error, for programs.'),
        message: z.string().describe('The cause, for people. Its wording may change.'),
        request_id: z.string().describe('`X-Request-Id` of the answer. Name it when you ask for help.'),
        param: z.string().optional().describe('For an invalid request: the first field that is wrong.'),
        details: z.array(errorDetailSchema).optional().describe('For an invalid request: everything that is wrong.'),
        required_scope: z.string().optional().describe('For `forbidden_scope`: the scope that the key lacks.'),
        retry_after: z.number().int().optional().describe('For `rate_limited`: seconds to wait, as in `Retry-After`.'),
      })
      .describe('The error.'),
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
