import { type ConsoleScope, keyScopeNames, type RouteScope } from '@enterprise-api/shared/contracts';

/** `*` contains every scope but those of console sessions. */
export function hasScope(granted: readonly ConsoleScope[], required: RouteScope): boolean {
  const isOfKeys = keyScopeNames.some((scope) => scope === required);
  return granted.includes(required) || (!isOfKeys && granted.includes('*'));
}
