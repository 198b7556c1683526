import { type ErrorBody, errorCatalogue } from '@enterprise-api/shared/contracts';
import { challenges, type Problem } from './problem.ts';

export function problemHeaders(found: Problem): Record<string, string> {
  const headers: Record<string, string> = { ...found.headers };
  const retryAfter = retryAfterOf(found);
  if (retryAfter !== undefined) headers['Retry-After'] = String(retryAfter);
  if (found.requiredScope !== undefined) {
    const { 'WWW-Authenticate': challenge } = challenges.insufficientScope;
    headers['WWW-Authenticate'] = `${challenge}, scope="${found.requiredScope}"`;
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
