import type { RequiredScope, Scope } from '@enterprise-api/shared/contracts';

/** Whether a key with these scopes may do what needs this one. */
export function hasScope(granted: readonly Scope[], required: RequiredScope): boolean {
  return granted.includes(required) || granted.includes('*');
}

/**
 * The scope that the specification names for paths that this release does not serve: whoever lacks it learns no more
 * than on any other path.
 */
export function scopeOfUnservedPath(method: string, path: string): RequiredScope | null {
  if (path === '/v1/chat/completions') return 'chat.completions';
  if (path !== '/scim/v2' && !path.startsWith('/scim/v2/')) return null;
  return method === 'GET' || method === 'HEAD' ? 'scim:read' : 'scim:write';
}
