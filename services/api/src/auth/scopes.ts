import type { RequiredScope, Scope } from '@enterprise-api/shared/contracts';

export function hasScope(granted: readonly Scope[], required: RequiredScope): boolean {
  return granted.includes(required) || granted.includes('*');
}
