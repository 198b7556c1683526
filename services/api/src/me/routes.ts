import { type ApiPlan, meSchema } from '@enterprise-api/shared/contracts';
import { toPublicId } from '@enterprise-api/shared/runtime';
import type { Principal } from '../auth/judge.ts';
import { keyPrefix } from '../auth/key-format.ts';
import { describeRateLimit } from '../auth/rate-limit.ts';
import { defineRoute } from '../http/routing/define-route.ts';

/** Needs no query: authentication has already read the key and its organization. */
export function meRoutes({ rateLimits }: { rateLimits: Readonly<Record<ApiPlan, number>> }) {
  return [
    defineRoute({
      endpoint: 'GET /v1/me',
      operationId: 'getMe',
      tag: 'Account',
      summary: 'Read the API key of the request',
      scope: 'me:read',
      withoutDatabase: true,
      response: meSchema,
      handle: ({ access: { key } }: { access: Principal }) => ({
        object: 'me' as const,
        organization: { ...key.organization, id: toPublicId('org', key.organization.id) },
        key: {
          id: toPublicId('key', key.id),
          name: key.name,
          key_prefix: keyPrefix(key.publicId),
          scopes: key.scopes,
          ip_allowlist: key.ipAllowlist,
          created_at: key.createdAt.toISOString(),
          expires_at: key.expiresAt?.toISOString() ?? null,
          last_used_at: key.lastUsedAt?.toISOString() ?? null,
        },
        scopes: key.scopes,
        rate_limit: describeRateLimit(rateLimits, key.organization.plan),
      }),
    }),
  ];
}
