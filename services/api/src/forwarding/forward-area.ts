import type { Principal } from '../auth/judge.ts';
import { sendProblem } from '../http/routing/respond.ts';
import type { AreaForwarder } from '../http/routing/serve-routes.ts';
import { requestContextOf } from '../http/server/request-context.ts';
import type { Forwarder } from './forwarder.ts';

/** Passes requests on by a forwarder, and answers those that it refuses or whose upstream gives no answer. */
export function createAreaForwarder(forwarder: Forwarder): AreaForwarder<Principal> {
  return {
    areas: forwarder.areas,
    forward: async (request, response, { area, key }) => {
      const call = { area, key, target: request.originalUrl, context: requestContextOf(response) };
      const found = await forwarder.forward(request, response, call);
      if (found !== null) sendProblem(response, found);
    },
  };
}
