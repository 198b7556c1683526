import { usageAreaOf } from '@enterprise-api/shared/contracts';
import { acceptsAnyKey, scopeOf } from '../http/routing/route-table.ts';
import type { Guard } from '../http/routing/serve-routes.ts';
import type { ClientAddressOf } from '../http/server/client-address.ts';
import { requestContextOf } from '../http/server/request-context.ts';
import type { Judge, Principal } from './judge.ts';

export function createPublicGuard(judge: Judge, addressOf: ClientAddressOf): Guard<Principal> {
  return (request, response, operation) => {
    const context = requestContextOf(response);
    const isForAnyKey = acceptsAnyKey(operation);
    const area = isForAnyKey ? undefined : usageAreaOf(context.target.path);
    const caller = { address: addressOf(request), area };
    context.caller = caller;
    return judge({
      method: request.method,
      authorization: request.headersDistinct.authorization,
      userAgent: request.headers['user-agent'],
      scope: scopeOf(operation),
      acceptsAnyKey: isForAnyKey,
      caller,
      headers: context.headers,
    });
  };
}
