import {
  type ErrorBody,
  type ErrorCode,
  type ErrorDetail,
  errorCatalogue,
  type RequiredScope,
} from '@enterprise-api/shared/contracts';

/** An expected failure. Services return it; `problemAnswer` turns it into an HTTP answer. */
export interface Problem {
  readonly problem: ErrorCode;
  readonly message?: string;
  readonly param?: string;
  readonly details?: readonly ErrorDetail[];
  readonly requiredScope?: RequiredScope;
  readonly retryAfterSeconds?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

export function problem(code: ErrorCode, more: Omit<Problem, 'problem'> = {}): Problem {
  return { problem: code, ...more };
}

export function isProblem(value: unknown): value is Problem {
  return typeof value === 'object' && value !== null && 'problem' in value;
}

/** Limits the details, because one request may have thousands of errors. */
const maxDetails = 50;

export function invalid(details: readonly ErrorDetail[], code: ErrorCode = 'validation_failed'): Problem {
  const [first] = details;
  if (first === undefined) return problem(code);
  const param = first.path === '' ? first.location : first.path;
  const message = first.path === '' ? `The ${first.location} ${first.message}.` : `${first.path}: ${first.message}.`;
  return problem(code, { param, message, details: details.slice(0, maxDetails) });
}

export function invalidHeader(name: string, message: string): Problem {
  return invalid([{ location: 'header', path: name, code: 'invalid_value', message }]);
}

const realm = 'Bearer realm="enterprise-api"';

/**
 * `WWW-Authenticate` of 401 and 403 answers. A request without credentials gets no error code (RFC 6750, section 3).
 */
export const challenges = {
  missing: { 'WWW-Authenticate': realm },
  invalid: { 'WWW-Authenticate': `${realm}, error="invalid_token"` },
  insufficientScope: { 'WWW-Authenticate': `${realm}, error="insufficient_scope"` },
} as const;

export function problemHeaders(found: Problem): Record<string, string> {
  const headers: Record<string, string> = { ...found.headers };
  const retryAfter = retryAfterOf(found);
  if (retryAfter !== undefined) headers['Retry-After'] = String(retryAfter);
  if (found.requiredScope !== undefined) {
    headers['WWW-Authenticate'] = `${realm}, error="insufficient_scope", scope="${found.requiredScope}"`;
  }
  return headers;
}

export function problemBody(found: Problem, requestId: string): ErrorBody {
  const { type, message } = errorCatalogue[found.problem];
  return {
    error: {
      type,
      code: found.problem,
      message: found.message ?? message,
      ...(found.param !== undefined && { param: found.param }),
      ...(found.details !== undefined && { details: [...found.details] }),
      ...(found.requiredScope !== undefined && { required_scope: found.requiredScope }),
      ...(found.problem === 'rate_limited' && { retry_after: retryAfterOf(found) ?? 1 }),
      request_id: requestId,
    },
  };
}

/** The error body of RFC 7644, section 3.12. SCIM has no field for our error code, so the text begins with it. */
export function scimProblemBody(found: Problem): unknown {
  const { status, message } = errorCatalogue[found.problem];
  return {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
    status: String(status),
    detail: `${found.problem}: ${found.message ?? message}`,
  };
}

function retryAfterOf(found: Problem): number | undefined {
  return found.retryAfterSeconds ?? (found.problem === 'service_unavailable' ? 1 : undefined);
}
