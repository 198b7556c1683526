import { type IncomingMessage, METHODS } from 'node:http';
import { type RequiredScope, scopeNames } from '@enterprise-api/shared/contracts';
import { isApiPath, type RequestTarget, readTarget } from '../http/parsing/request-target.ts';
import { invalidHeader, isProblem, type Problem, problem } from '../http/problem.ts';

export interface ForwardedRequest {
  readonly method: string;
  readonly target: RequestTarget;
  /** The scope that the ingress requires for a path outside the API; null for an API path. */
  readonly requiredScope: RequiredScope | null;
  readonly isRepeat: boolean;
}

type Headers = Pick<IncomingMessage, 'headersDistinct'>['headersDistinct'];

/**
 * Reads the ingress's headers about a request. Each header may appear only once. A second one could come from the
 * client, and nothing distinguishes the two.
 */
export function readForwardedRequest(headers: Headers): ForwardedRequest | Problem {
  const method = oneOf(headers, 'X-Forwarded-Method', 'X-Original-Method');
  if (isProblem(method)) return method;
  // The public listener's parser answers an unknown method in the same way.
  if (!methods.has(method)) return problem('malformed_request');
  const uri = oneOf(headers, 'X-Forwarded-Uri', 'X-Original-URI');
  if (isProblem(uri)) return uri;
  const repeats = headers['x-authorize-repeat'] ?? [];
  if (repeats.length > 1) return invalidHeader('X-Authorize-Repeat', 'must be given once');
  const target = readTarget(uri);
  const isOthers = target.refusal === null && !isApiPath(target.path);
  const requiredScope = isOthers ? readScope(headers['x-required-scope']) : null;
  if (isProblem(requiredScope)) return requiredScope;
  return { method, target, requiredScope, isRepeat: repeats[0] === '1' };
}

/** If both headers are present, one may come from the client, so they must agree. */
function oneOf(headers: Headers, name: string, otherName: string): string | Problem {
  const given = [name, otherName]
    .map((each) => headers[each.toLowerCase()] ?? [])
    .filter((values) => values.join('') !== '');
  if (given.some((values) => values.length > 1)) return invalidHeader(name, 'must be given once');
  const [value = '', other = value] = given.flat();
  if (value === '') return invalidHeader(name, 'is required');
  return value === other ? value : invalidHeader(name, `must not differ from ${otherName}`);
}

const methods: ReadonlySet<string> = new Set(METHODS);
const scopes: ReadonlySet<string> = new Set(scopeNames.filter((scope) => scope !== '*'));

function readScope([scope = '', ...more]: readonly string[] = []): RequiredScope | Problem {
  if (scopes.has(scope) && more.length === 0) return scope as RequiredScope;
  return invalidHeader('X-Required-Scope', 'must name one scope, because the API does not own this path');
}
