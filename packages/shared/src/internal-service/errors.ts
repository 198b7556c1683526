import { ZodError, z } from 'zod';
import { type ErrorCode, errorCatalogue } from '../contracts/index.ts';

/** Refuses a request with a code of the API's catalogue. The code determines the status and the default message. */
export class RequestError extends Error {
  override readonly name = 'RequestError';
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string = errorCatalogue[code].message, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** The response to a failed request, in the API's shape. The API passes on the bodies of a service unchanged. */
export interface ErrorAnswer {
  status: number;
  body: { error: { type: string; code: ErrorCode; message: string; request_id: string | null } };
}

/**
 * Converts an error to a response. The client never sees a library's text.
 *
 * @param error a {@link RequestError}, a `ZodError` of the request (400), an error of Express or of its body parser
 *   (400, 413, 415), or any other error (500), which the caller should log
 * @param requestId `X-Request-Id` of the request
 */
export function errorAnswer(error: unknown, requestId: string | undefined): ErrorAnswer {
  const { code, message } = toRequestError(error);
  const { status, type } = errorCatalogue[code];
  return { status, body: { error: { type, code, message, request_id: requestId ?? null } } };
}

/** The codes for errors of Express and its body parser, which name only their status. */
const codesByStatus = ['validation_failed', 'not_found', 'payload_too_large', 'unsupported_media_type'] as const;

function toRequestError(error: unknown): RequestError {
  if (error instanceof RequestError) return error;
  if (error instanceof ZodError) return new RequestError('validation_failed', z.prettifyError(error));
  const status = (error as { status?: unknown } | null)?.status;
  return new RequestError(codesByStatus.find((code) => errorCatalogue[code].status === status) ?? 'internal_error');
}
