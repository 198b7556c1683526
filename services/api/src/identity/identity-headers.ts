import { toPublicId } from '@enterprise-api/shared/runtime';
import type { TokenSubject } from './identity-tokens.ts';

/** The caller's identity, as headers for the internal service. */
export function identityHeaders({ id, scopes, organization }: TokenSubject): Record<string, string> {
  return {
    'X-Organization-Id': toPublicId('org', organization.id),
    'X-Organization-Plan': organization.plan,
    'X-Api-Key-Id': toPublicId('key', id),
    'X-Api-Key-Scopes': scopes.join(' '),
  };
}
