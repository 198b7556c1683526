import { type ConsoleScope, keyScopeNames, type RouteScope } from '@enterprise-api/shared/contracts';

/** `*` contains every scope except the scopes that only console sessions have. */
export function hasScope(granted: readonly ConsoleScope[], required: RouteScope): boolean {
  const isOfKeys = keyScopeNames.some((scope) => scope === required);
  return granted.includes(required) || (!isOfKeys && granted.includes('*'));
}
