import type { RequiredScope, Scope } from '@enterprise-api/shared/contracts';

/** Whether the scopes of a key include the required one. */
export function hasScope(granted: readonly Scope[], required: RequiredScope): boolean {
  return granted.includes(required) || granted.includes('*');
}

/**
 * The scope that is required on paths that are reserved but not served yet. A key without it gets 403 as on any served
 * path, so that it cannot find out which paths exist.
 */
export function scopeOfUnservedPath(method: string, path: string): RequiredScope | null {
  if (path === '/v1/chat/completions') return 'chat.completions';
  if (path !== '/scim/v2' && !path.startsWith('/scim/v2/')) return null;
  return method === 'GET' || method === 'HEAD' ? 'scim:read' : 'scim:write';
}
