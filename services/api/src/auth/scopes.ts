import type { RequiredScope, Scope } from '@enterprise-api/shared/contracts';

/** Whether the scopes of a key include the required one. */
export function hasScope(granted: readonly Scope[], required: RequiredScope): boolean {
  return granted.includes(required) || granted.includes('*');
}
