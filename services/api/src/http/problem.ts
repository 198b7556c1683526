import type { ErrorCode, ErrorDetail, RouteScope } from '@enterprise-api/shared/contracts';

/** An expected failure. Services return it; `problemAnswer` turns it into an HTTP answer. */
export interface Problem {
  readonly problem: ErrorCode;
  readonly message?: string;
  readonly param?: string;
  readonly details?: readonly ErrorDetail[];
  readonly requiredScope?: RouteScope;
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
