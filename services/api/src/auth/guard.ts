import { usageAreaOf } from '@enterprise-api/shared/contracts';
import { scopeOf } from '../http/routing/route-table.ts';
import type { Guard } from '../http/routing/serve-routes.ts';
import type { ClientAddressOf } from '../http/server/client-address.ts';
import { requestContextOf } from '../http/server/request-context.ts';
import { authorizationOf } from './bearer.ts';
import type { Judge, Principal } from './judge.ts';

/** Authorizes requests of the public listener, with what Express knows of them. */
export function createPublicGuard(judge: Judge, addressOf: ClientAddressOf): Guard<Principal> {
  return (request, response, operation) => {
    const context = requestContextOf(response);
    context.area = usageAreaOf(context.target.path);
    const authorization = authorizationOf(request);
    return judge({
      method: request.method,
      authorization,
      address: addressOf(request),
      scope: scopeOf(operation),
      context,
    });
  };
}
