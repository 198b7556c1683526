import type { Principal } from '../../auth/judge.ts';
import type { Forwarder } from '../../forwarding/forwarder.ts';
import { requestContextOf } from '../server/request-context.ts';
import { sendProblem } from './respond.ts';
import type { AreaForwarder } from './serve-routes.ts';

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
