import type { RequestHandler } from 'express';
import { type InternalSecrets, refusedRole } from '../auth/internal-guard.ts';
import { isProblem } from '../http/problem.ts';
import { sendAnswer, sendProblem } from '../http/routing/respond.ts';
import { forbidStorage, type RequestContext, requestContextOf } from '../http/server/request-context.ts';
import { createForwardAuthentication, type ForwardAuthenticationOptions } from './forward-authentication.ts';

export const authorizePath = '/internal/v1/authorize';

/**
 * Forward authentication, for any method. The secret has its own header, because `Authorization` belongs to the client.
 */
export function forwardAuthenticationRoute<Access>(
  options: ForwardAuthenticationOptions<Access>,
  { holderOf }: InternalSecrets,
): RequestHandler {
  const authorize = createForwardAuthentication(options);
  return async (request, response) => {
    const context = requestContextOf(response);
    context.route = authorizePath;
    forbidStorage(response);
    const holder = holderOf(request.headersDistinct['x-internal-authorization']);
    const answer = isProblem(holder)
      ? holder
      : holder.role === 'producer'
        ? refusedRole(holder.role)
        : await authorize(request, context);
    if (isProblem(answer)) sendProblem(response, answer);
    else sendAnswer(response, { headers: withTrace(answer, context), body: '' });
  };
}

/** The ingress forwards `traceparent`, so that the spans of the service behind it have our check as their parent. */
function withTrace(headers: Record<string, string>, { span }: RequestContext): Record<string, string> {
  return span === undefined ? headers : { ...headers, traceparent: span.traceparent };
}
