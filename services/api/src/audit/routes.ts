import { auditEntrySchema, listAuditQuerySchema, listSchema } from '@enterprise-api/shared/contracts';
import type { InternalAccess } from '../auth/internal-guard.ts';
import { defineRoute, type Route } from '../http/routing/define-route.ts';
import type { AuditService } from './service.ts';

export function auditRoutes(audit: AuditService): Route<InternalAccess>[] {
  return [
    defineRoute({
      endpoint: 'GET /internal/v1/audit',
      operationId: 'listAuditEntries',
      tag: 'Audit',
      summary: 'List audit entries',
      query: listAuditQuerySchema,
      response: listSchema(auditEntrySchema),
      handle: ({ query }) => audit.list(query),
    }),
  ];
}
