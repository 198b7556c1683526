import { type ApiPlan, type DeliveryPolicy, effectiveBodyRetention, meSchema } from '@enterprise-api/shared/contracts';
import { toPublicId } from '@enterprise-api/shared/runtime';
import type { ApiKeyService } from '../api-keys/service.ts';
import type { Principal } from '../auth/judge.ts';
import { keyPrefix } from '../auth/key-format.ts';
import { describeRateLimit } from '../auth/rate-limit.ts';
import type { Transact } from '../core/unit-of-work.ts';
import { defineRoute } from '../http/routing/define-route.ts';

interface MeRouteOptions {
  rateLimits: Readonly<Record<ApiPlan, number>>;
  deliveryPolicy: DeliveryPolicy;
  apiKeys: Pick<ApiKeyService, 'revokeOwn'>;
}

/** Reading needs no query: authentication has already read the key and its organization. */
export function meRoutes({ rateLimits, deliveryPolicy, apiKeys }: MeRouteOptions) {
  return [
    defineRoute({
      endpoint: 'GET /v1/me',
      operationId: 'getMe',
      tag: 'Account',
      summary: 'Read this API key',
      scope: 'me:read',
      withoutDatabase: true,
      response: meSchema,
      handle: ({ access: { key } }: { access: Principal }) => ({
        object: 'me' as const,
        organization: describeOrganization(key.organization, deliveryPolicy.body_retention_seconds),
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
    defineRoute({
      endpoint: 'DELETE /v1/me/key',
      operationId: 'revokeOwnKey',
      tag: 'Account',
      summary: 'Revoke this API key',
      description:
        'For a key that leaked. The key is refused everywhere within a second. Its scopes and addresses, the plan and the rate limit are not checked.',
      caller: 'any_key',
      handle: ({ access, transact }: { access: Principal; transact: Transact }) => apiKeys.revokeOwn(transact, access),
    }),
  ];
}

/** @param defaultRetentionSeconds how long bodies are kept if the organization has no time of its own */
export function describeOrganization(
  { id, name, plan, bodyRetentionSeconds }: Principal['key']['organization'],
  defaultRetentionSeconds: number | null,
) {
  const body_retention_seconds = effectiveBodyRetention(bodyRetentionSeconds, defaultRetentionSeconds);
  return { id: toPublicId('org', id), name, plan, body_retention_seconds };
}
