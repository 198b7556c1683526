import type { BatchedProducer, WrittenEvent } from '@enterprise-api/shared/events';
import type { Database, DatabaseClock, DatabaseTransaction } from '@enterprise-api/shared/ledger';
import { countJobs, newestJobs, type QueueBackend } from '@enterprise-api/shared/queue';
import type { Uuid } from '@enterprise-api/shared/runtime';
import { createAddressPolicy, createSecretBox } from '@enterprise-api/shared/security';
import type { Tracing } from '@enterprise-api/shared/tracing';
import { apiKeyRoutes } from './api-keys/routes.ts';
import { createApiKeyService } from './api-keys/service.ts';
import { auditRoutes } from './audit/routes.ts';
import { createAuditService } from './audit/service.ts';
import type { FailureLimit } from './auth/authenticate.ts';
import type { ConsoleSettings } from './auth/console-judge.ts';
import { findSessionByHash } from './auth/queries.ts';
import type { RequestLimit } from './auth/rate-limit.ts';
import type { ApiConfig } from './config.ts';
import { enterRoute } from './console/enter.ts';
import { ownConsoleRoutes } from './console/own-routes.ts';
import { consoleSessionRoutes, ownConsoleSessionRoutes } from './console/routes.ts';
import { createConsoleSessions } from './console/service.ts';
import type { TransactAs } from './core/unit-of-work.ts';
import { deliveryRoutes } from './deliveries/routes.ts';
import { createDeliveryService } from './deliveries/service.ts';
import { deliveryPolicyRoutes } from './delivery-policy/routes.ts';
import { internalErasureRoutes, ownErasureRoutes } from './erasures/routes.ts';
import { createErasureService } from './erasures/service.ts';
import type { Horizon } from './event-history/horizon.ts';
import type { RetentionLimits } from './event-history/queries.ts';
import { eventHistoryRoutes } from './event-history/routes.ts';
import { createEventHistory } from './event-history/service.ts';
import { eventStreamRoutes } from './event-stream/routes.ts';
import type { EventStreamService } from './event-stream/service.ts';
import { eventTypeRoutes } from './event-types/routes.ts';
import { eventRoutes } from './events/routes.ts';
import { createEventService } from './events/service.ts';
import { explanationRoutes } from './explanations/routes.ts';
import { createExplanations } from './explanations/service.ts';
import type { IdentityTokens } from './identity/identity-tokens.ts';
import { identityRoutes } from './identity/routes.ts';
import { meRoutes } from './me/routes.ts';
import { createDatabaseReports } from './operators/database-reports.ts';
import { createInspection } from './operators/inspection.ts';
import { createQueueJobsReader } from './operators/queue-jobs.ts';
import { operatorRoutes } from './operators/routes.ts';
import { createSendingPauses } from './operators/sending-pauses.ts';
import { createStatsReader } from './operators/stats.ts';
import type { Closings } from './organizations/closings.ts';
import { findActiveOrganizations } from './organizations/queries.ts';
import { organizationRoutes } from './organizations/routes.ts';
import { createOrganizationService } from './organizations/service.ts';
import { createCursors } from './pagination/paging.ts';
import { replayRoutes } from './redelivery/replay-routes.ts';
import { createReplays } from './redelivery/replays.ts';
import { redeliveryRoutes } from './redelivery/routes.ts';
import { createRedelivery } from './redelivery/service.ts';
import type { HistoryReads } from './replica/history-reads.ts';
import { signatureDebuggerRoutes } from './signature-debugger/routes.ts';
import { createSignatureDebugger } from './signature-debugger/service.ts';
import { usageRoutes } from './usage/routes.ts';
import { createUsageService } from './usage/service.ts';
import { createWebhookHealth } from './webhooks/health.ts';
import { webhookMonitoringRoutes } from './webhooks/monitoring-routes.ts';
import { webhookRoutes } from './webhooks/routes.ts';
import { createWebhookService } from './webhooks/service.ts';
import { createWebhookStatistics } from './webhooks/statistics.ts';

export interface FeatureParts {
  config: ApiConfig;
  db: Database;
  history: HistoryReads;
  databaseClock: DatabaseClock;
  horizon: Horizon;
  limits: RetentionLimits;
  queue: QueueBackend;
}

interface PublicFeatureParts extends FeatureParts {
  eventStream: EventStreamService;
  signatureCheckLimit: RequestLimit;
}

/** The features of `/v1`. */
export function publicRoutes(parts: PublicFeatureParts) {
  const { config, db, history, databaseClock, eventStream, signatureCheckLimit: limit } = parts;
  const { cursors, secretBox, apiKeys, webhooks, health, events, deliveries, redelivery, erasures, consoleSessions } =
    createSharedParts(parts);
  return [
    ...meRoutes({ ...config, apiKeys }),
    ...webhookRoutes(webhooks),
    ...webhookMonitoringRoutes(health, createWebhookStatistics({ db, clock: databaseClock })),
    ...deliveryPolicyRoutes(config),
    ...eventTypeRoutes({ cursors }),
    ...eventHistoryRoutes(events),
    ...explanationRoutes(createExplanations(parts.db)),
    ...eventStreamRoutes(eventStream),
    ...deliveryRoutes(deliveries),
    ...redeliveryRoutes(redelivery),
    ...replayRoutes(createReplays({ db, cursors })),
    ...signatureDebuggerRoutes(createSignatureDebugger({ secretBox, limit })),
    ...ownErasureRoutes(erasures),
    ...ownConsoleSessionRoutes(consoleSessions),
    ...usageRoutes(createUsageService({ history, clock: databaseClock, rateLimits: config.rateLimits })),
  ];
}

export interface InternalFeatureParts extends FeatureParts {
  onEmitted: (events: readonly WrittenEvent[]) => void;
  identityTokens: Pick<IdentityTokens, 'publicKeys'>;
  tracing?: Tracing | undefined;
  closings: Pick<Closings, 'onClosed'>;
}

/** The features of `/internal/v1`. */
export function internalRoutes(
  parts: InternalFeatureParts,
  { emit, emitWithin }: Pick<BatchedProducer, 'emit' | 'emitWithin'>,
) {
  const { config, db, databaseClock, history, onEmitted, identityTokens, queue, closings } = parts;
  const { cursors, apiKeys, webhooks, health, events, deliveries, redelivery, erasures, consoleSessions } =
    createSharedParts(parts);
  return [
    ...organizationRoutes({
      organizations: createOrganizationService({ db, cursors, deliveryPolicy: config.deliveryPolicy }),
      webhooks,
      deliveries,
      events,
    }),
    ...apiKeyRoutes(apiKeys),
    ...consoleSessionRoutes(consoleSessions, apiKeys),
    ...operatorRoutes({
      sendingPauses: createSendingPauses(db),
      stats: createStatsReader({
        db,
        clock: databaseClock,
        deliveryPolicy: config.deliveryPolicy,
        countJobs: () => countJobs(queue),
      }),
      database: createDatabaseReports({ db, clock: databaseClock }),
      inspection: createInspection({ db, webhooks, health, deliveries, redelivery }),
      queueJobs: createQueueJobsReader({
        isOpen: config.queueBoard,
        countJobs: () => countJobs(queue),
        newestJobs: (...asked) => newestJobs(queue, ...asked),
      }),
    }),
    ...internalErasureRoutes(erasures),
    ...auditRoutes(createAuditService({ history, cursors })),
    ...identityRoutes(identityTokens),
    ...eventRoutes(
      createEventService({
        emit,
        emitWithin,
        findActiveOrganizations: (ids: readonly Uuid[], trx?: DatabaseTransaction) =>
          findActiveOrganizations(trx ?? db, ids),
        onClosed: closings.onClosed,
        onEmitted,
        tracing: parts.tracing,
      }),
    ),
  ];
}

interface ConsoleParts extends FeatureParts {
  settings: ConsoleSettings;
  failures: FailureLimit;
  transactAs: TransactAs;
}

/** The routes that only the console has. */
export function consoleRoutes(parts: ConsoleParts) {
  const { config, db, databaseClock, history, settings, failures, transactAs } = parts;
  const { cursors, apiKeys, consoleSessions: sessions } = createSharedParts(parts);
  const { publicUrl, rateLimit } = settings;
  const { body_retention_seconds: bodyRetentionSeconds } = config.deliveryPolicy;
  const audit = createAuditService({ history, cursors });
  return {
    ownRoutes: ownConsoleRoutes({ sessions, apiKeys, audit, publicUrl, rateLimit, bodyRetentionSeconds }),
    enter: enterRoute({ db, findSession: findSessionByHash, transactAs, failures, publicUrl, now: databaseClock.now }),
  };
}

function createSharedParts({ config, db, history, databaseClock, horizon, limits, queue }: FeatureParts) {
  const cursors = createCursors(config.keyRing);
  const addressPolicy = createAddressPolicy({ allowedPrivateCidrs: config.allowedPrivateCidrs });
  const secretBox = createSecretBox(config.keyRing);
  return {
    cursors,
    secretBox,
    apiKeys: createApiKeyService({ db, cursors }),
    redelivery: createRedelivery({
      clock: databaseClock,
      addressPolicy,
      maxAttempts: config.deliveryPolicy.max_attempts,
    }),
    webhooks: createWebhookService({ db, secretBox, addressPolicy, cursors, clock: databaseClock }),
    health: createWebhookHealth({ db, clock: databaseClock, cursors }),
    events: createEventHistory({ db, history, cursors, horizon, limits }),
    deliveries: createDeliveryService({ db, history, cursors }),
    erasures: createErasureService({ db, cursors, secretBox, queue }),
    consoleSessions: createConsoleSessions({
      db,
      cursors,
      publicUrl: config.console?.publicUrl,
      now: databaseClock.now,
    }),
  };
}
