import { signatureCheckSchema, verifySignatureSchema } from '@enterprise-api/shared/contracts';
import type { Principal } from '../auth/judge.ts';
import { defineRoute, type Route } from '../http/routing/define-route.ts';
import { webhookExists } from '../webhooks/service.ts';
import type { SignatureDebugger } from './service.ts';

export function signatureDebuggerRoutes(signatures: SignatureDebugger): Route<Principal>[] {
  return [
    defineRoute({
      endpoint: 'POST /v1/webhooks/{id}/verify-signature',
      operationId: 'verifySignature',
      tag: 'Webhooks',
      summary: 'Find out why a signature is refused',
      description:
        'Send the headers and the body that your receiver got, and the signature that it computed. The request has at most 512 KiB; an organization may send 30 per minute.',
      scope: 'webhooks:read',
      ids: { id: 'whk' },
      body: verifySignatureSchema,
      maxBodyBytes: 512 * 1_024,
      exists: ({ access, ids, trx }) => webhookExists(trx, access.key.organization.id, ids.id),
      response: signatureCheckSchema,
      handle: ({ access, ids, body, transact }) =>
        signatures.verify(transact, { organizationId: access.key.organization.id, id: ids.id }, body),
    }),
  ];
}
