import type { IncomingMessage } from 'node:http';
import { areaOperation, type RequiredScope, usageAreaOf, usageAreaOfScope } from '@enterprise-api/shared/contracts';
import type { Judge } from '../auth/judge.ts';
import { isProblem, type Problem, problem } from '../http/problem.ts';
import { acceptsAnyKey, existing, type Operation, type RouteTable, scopeOf } from '../http/routing/route-table.ts';
import type { ClientAddressOf } from '../http/server/client-address.ts';
import type { RequestContext } from '../http/server/request-context.ts';
import { type IdentityTokens, identityHeaders } from '../identity/identity-tokens.ts';
import { type ForwardedRequest, readForwardedRequest } from './forwarded-request.ts';

/**
 * Forward authentication: applies the API's checks to a request that an ingress will forward itself.
 *
 * @returns the headers of the 200, which identify the caller; or the problem that the API would have answered with
 * @throws DatabaseUnavailableError when the key must be looked up and the database does not answer
 */
export type ForwardAuthentication = (
  request: IncomingMessage,
  context: RequestContext,
) => Promise<Record<string, string> | Problem>;

export interface ForwardAuthenticationOptions<Access> {
  judge: Judge;
  table: Pick<RouteTable<Access>, 'find'>;
  addressOf: ClientAddressOf;
  tokenFor: IdentityTokens['tokenFor'];
}

export function createForwardAuthentication<Access>(
  options: ForwardAuthenticationOptions<Access>,
): ForwardAuthentication {
  const judgeForwarded = async (request: IncomingMessage, context: RequestContext, forwarded: ForwardedRequest) => {
    const { method, target, requiredScope, isRepeat } = forwarded;
    const operation = requiredScope === null ? options.table.find(method, target.path) : null;
    if (operation !== null && needsNoKey(operation)) return {};
    const scope = operation === null ? requiredScope : scopeOf(operation);
    const isForAnyKey = operation !== null && acceptsAnyKey(operation);
    // Without an area, the request is not counted as usage.
    const area = isRepeat || isForAnyKey ? undefined : areaOf(target.path, requiredScope);
    const caller = { address: options.addressOf(request), area };
    context.caller = caller;
    const principal = await options.judge({
      method,
      authorization: request.headersDistinct.authorization,
      userAgent: request.headers['user-agent'],
      scope,
      acceptsAnyKey: isForAnyKey,
      isRepeat,
      caller,
      headers: context.headers,
    });
    if (isProblem(principal)) return principal;
    const found = operation === null ? null : existing(operation);
    if (isProblem(found)) return found;
    const token = await options.tokenFor(principal.key, audienceOf(method, target.path, requiredScope));
    return { ...identityHeaders(principal.key), ...(token !== undefined && { 'X-Identity-Token': token }) };
  };
  return async (request, context) => {
    const forwarded = readForwardedRequest(request.headersDistinct);
    if (isProblem(forwarded)) return forwarded;
    context.judgedTarget = forwarded.target;
    if (forwarded.target.refusal !== null) return forwarded.target.refusal;
    const answer = await judgeForwarded(request, context, forwarded);
    return forwarded.isRepeat && !isProblem(answer) ? problem('service_unavailable') : answer;
  };
}

function needsNoKey<Access>(operation: Operation<Access>): boolean {
  return operation.kind === 'route' && operation.route.caller === 'anyone';
}

/** The area for usage counts. A path outside the API counts for the area of its scope. */
function areaOf(path: string, requiredScope: RequiredScope | null) {
  return requiredScope === null ? usageAreaOf(path) : usageAreaOfScope(requiredScope);
}

function audienceOf(method: string, path: string, requiredScope: RequiredScope | null) {
  return requiredScope === null ? (areaOperation(method, path)?.area ?? 'api') : 'ingress';
}
