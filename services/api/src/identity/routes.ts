import { publicSigningKeysSchema } from '@enterprise-api/shared/contracts';
import type { InternalAccess } from '../auth/internal-guard.ts';
import { defineRoute } from '../http/routing/define-route.ts';
import type { IdentityTokens } from './identity-tokens.ts';

/** The public keys are no secret. A service that verifies tokens needs no other access to this API. */
export function identityRoutes({ publicKeys }: Pick<IdentityTokens, 'publicKeys'>) {
  return [
    defineRoute({
      endpoint: 'GET /internal/v1/jwks.json',
      operationId: 'getSigningKeys',
      tag: 'Identity',
      summary: 'Read signing keys',
      caller: 'anyone',
      response: publicSigningKeysSchema,
      handle: (_input: { access: InternalAccess }) => ({ keys: [...publicKeys] }),
    }),
  ];
}
