import {
  type DeliveryPolicy,
  deliveryPolicySchema,
  effectiveBodyRetention,
  sourceAddressesSchema,
} from '@enterprise-api/shared/contracts';
import type { Principal } from '../auth/judge.ts';
import { defineRoute, type Route } from '../http/routing/define-route.ts';

interface DeliveryPolicyOptions {
  deliveryPolicy: DeliveryPolicy;
  sourceAddresses: string[] | null;
}

/** The operator's settings that a receiver must know. */
export function deliveryPolicyRoutes({ deliveryPolicy, sourceAddresses }: DeliveryPolicyOptions): Route<Principal>[] {
  return [
    defineRoute({
      endpoint: 'GET /v1/webhooks/delivery-policy',
      operationId: 'getDeliveryPolicy',
      tag: 'Webhooks',
      summary: 'Read the delivery policy',
      scope: 'webhooks:read',
      withoutDatabase: true,
      response: deliveryPolicySchema,
      handle: ({ access }) => ({
        ...deliveryPolicy,
        body_retention_seconds: effectiveBodyRetention(
          access.key.organization.bodyRetentionSeconds,
          deliveryPolicy.body_retention_seconds,
        ),
      }),
    }),
    defineRoute({
      endpoint: 'GET /v1/webhooks/source-addresses',
      operationId: 'getSourceAddresses',
      tag: 'Webhooks',
      summary: 'Read source addresses',
      description:
        'If `addresses` is null, they are unknown or may change: do not filter by address, and rely on the signature.',
      scope: 'webhooks:read',
      withoutDatabase: true,
      response: sourceAddressesSchema,
      handle: () => ({ object: 'source_addresses' as const, addresses: sourceAddresses }),
    }),
  ];
}
