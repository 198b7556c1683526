import type { BatchedProducer } from '@enterprise-api/shared/events';
import type { Database, DatabaseClock } from '@enterprise-api/shared/ledger';
import { createAddressPolicy, createSecretBox } from '@enterprise-api/shared/security';
import { apiKeyRoutes } from './api-keys/routes.ts';
import { createApiKeyService } from './api-keys/service.ts';
import { auditRoutes } from './audit/routes.ts';
import { createAuditService } from './audit/service.ts';
import type { ApiConfig } from './config.ts';
import { deliveryRoutes } from './deliveries/routes.ts';
import { createDeliveryService } from './deliveries/service.ts';
import { eventTypeRoutes } from './event-types/routes.ts';
import { eventRoutes } from './events/routes.ts';
import type { IdentityTokens } from './identity/identity-tokens.ts';
import { identityRoutes } from './identity/routes.ts';
import { meRoutes } from './me/routes.ts';
import type { ApiMetrics } from './metrics.ts';
import { historyRoutes } from './organizations/history-routes.ts';
import { findExistingOrganizations } from './organizations/queries.ts';
import { organizationRoutes } from './organizations/routes.ts';
import { createOrganizationService } from './organizations/service.ts';
import { createCursors } from './pagination/cursor.ts';
import { redeliveryRoutes } from './redelivery/routes.ts';
import { createRedelivery } from './redelivery/service.ts';
import { usageRoutes } from './usage/routes.ts';
import { createUsageService } from './usage/service.ts';
import { webhookRoutes } from './webhooks/routes.ts';
import { createWebhookService } from './webhooks/service.ts';

/** What the features are built from. */
export interface FeatureParts {
  config: ApiConfig;
  db: Database;
  databaseClock: DatabaseClock;
}

/** The features of `/v1`. */
export function publicRoutes({ config, db, databaseClock }: FeatureParts) {
  const cursors = createCursors(config.keyRing);
  const addressPolicy = createAddressPolicy({ allowedPrivateCidrs: config.allowedPrivateCidrs });
  return [
    ...meRoutes({ rateLimits: config.rateLimits }),
    ...webhookRoutes(webhookService({ config, db })),
    ...eventTypeRoutes({ cursors }),
    ...deliveryRoutes(createDeliveryService({ db, cursors })),
    ...redeliveryRoutes(createRedelivery({ clock: databaseClock, addressPolicy })),
    ...usageRoutes(createUsageService({ db, clock: databaseClock, rateLimits: config.rateLimits })),
  ];
}

/** What the features of the internal listener are built from as well. */
interface InternalFeatureParts extends FeatureParts {
  metrics: Pick<ApiMetrics, 'event'>;
  identityTokens: Pick<IdentityTokens, 'publicKeys'>;
}

/** The features of `/internal/v1`. */
export function internalRoutes(
  { config, db, metrics, identityTokens }: InternalFeatureParts,
  { emit }: Pick<BatchedProducer, 'emit'>,
) {
  const cursors = createCursors(config.keyRing);
  const organizations = createOrganizationService({ db, cursors });
  const deliveries = createDeliveryService({ db, cursors });
  return [
    ...organizationRoutes(organizations),
    ...historyRoutes({ organizations, webhooks: webhookService({ config, db }), deliveries }),
    ...apiKeyRoutes(createApiKeyService({ db, cursors })),
    ...auditRoutes(createAuditService({ db, cursors })),
    ...identityRoutes(identityTokens),
    ...eventRoutes({
      emit,
      findExistingOrganizations: (ids) => findExistingOrganizations(db, ids),
      onEmitted: metrics.event,
    }),
  ];
}

function webhookService({ config, db }: Pick<FeatureParts, 'config' | 'db'>) {
  return createWebhookService({
    db,
    secretBox: createSecretBox(config.keyRing),
    addressPolicy: createAddressPolicy({ allowedPrivateCidrs: config.allowedPrivateCidrs }),
    cursors: createCursors(config.keyRing),
  });
}
