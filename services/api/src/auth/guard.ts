import { usageAreaOf } from '@enterprise-api/shared/contracts';
import { scopeOf } from '../http/routing/route-table.ts';
import type { Guard } from '../http/routing/serve-routes.ts';
import type { ClientAddressOf } from '../http/server/client-address.ts';
import { requestContextOf } from '../http/server/request-context.ts';
import type { Judge, Principal } from './judge.ts';

export function createPublicGuard(judge: Judge, addressOf: ClientAddressOf): Guard<Principal> {
  return (request, response, operation) => {
    const context = requestContextOf(response);
    const caller = { address: addressOf(request), area: usageAreaOf(context.target.path) };
    context.caller = caller;
    const { method, headersDistinct } = request;
    const { authorization } = headersDistinct;
    return judge({ method, authorization, scope: scopeOf(operation), caller, headers: context.headers });
  };
}
