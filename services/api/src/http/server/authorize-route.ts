import type { RequestHandler } from 'express';
import type { InternalSecrets } from '../../auth/internal-guard.ts';
import type { Authorize } from '../../authorize/authorize.ts';
import { isProblem } from '../../core/problem.ts';
import { isAtOrBelow } from '../parsing/request-target.ts';
import { sendAnswer, sendProblem } from '../routing/respond.ts';
import { requestContextOf } from './request-context.ts';

const path = '/internal/v1/authorize';

/**
 * Forward authentication, with any method. Paths below are the same: Envoy appends the path of the request. The secret
 * comes in a header of its own, because `Authorization` is the client's.
 */
export function authorizeRoute(authorize: Authorize, { holderOf }: InternalSecrets): RequestHandler {
  return async (request, response, next) => {
    const context = requestContextOf(response);
    if (!isAtOrBelow(context.target.path, path)) return next();
    context.route = path;
    context.headers['Cache-Control'] = 'no-store';
    const holder = holderOf(request.headers['x-internal-authorization'] as string | undefined);
    const answer = isProblem(holder) ? holder : await authorize(request, context);
    if (isProblem(answer)) sendProblem(response, answer);
    else sendAnswer(response, { status: 200, headers: answer, body: '' });
  };
}
