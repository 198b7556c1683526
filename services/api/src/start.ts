import type { BatchedProducer, WrittenEvent } from '@enterprise-api/shared/events';
import type { Database, DatabaseClock } from '@enterprise-api/shared/ledger';
import { countJobs, newestJobs } from '@enterprise-api/shared/queue';
import {
  type Clock,
  createClosers,
  createLimitedWarning,
  type Logger,
  toPublicId,
} from '@enterprise-api/shared/runtime';
import { createSecretBox } from '@enterprise-api/shared/security';
import type { Tracing } from '@enterprise-api/shared/tracing';
import { createInternalApp, createPublicApp } from './app.ts';
import { createAuthenticator } from './auth/authenticate.ts';
import { createFailureLimit } from './auth/failure-limit.ts';
import { createForwardedForWarning } from './auth/forwarded-for-warning.ts';
import { createPublicGuard } from './auth/guard.ts';
import { createInternalGuard, createInternalSecrets } from './auth/internal-guard.ts';
import { createJudge } from './auth/judge.ts';
import { createKeyCache, type KeyCache } from './auth/key-cache.ts';
import { findKeyByHash } from './auth/queries.ts';
import type { RateLimiter } from './auth/rate-limit.ts';
import { createRecentSuccesses } from './auth/recent-successes.ts';
import type { ApiConfig } from './config.ts';
import {
  connectionsPerOrganization,
  type Foundation,
  openChangeFeed,
  openDatabase,
  openEventProducer,
  openForwarder,
  openHistoryReads,
  openLastUsed,
  openRateLimiter,
  queueOf,
  startTracing,
} from './connections.ts';
import type { DatabaseHealth } from './core/database-health.ts';
import { createDatabaseShare } from './core/database-share.ts';
import { createTransact, type TransactAs } from './core/unit-of-work.ts';
import { createFollowedEvents } from './event-history/followed-events.ts';
import { createHorizonReader, type Horizon } from './event-history/horizon.ts';
import { readHorizonRows, startOfRetention } from './event-history/queries.ts';
import { createRetentionLimits, type RetentionLimits } from './event-history/retention-limits.ts';
import { EventNotifier } from './event-stream/event-notifier.ts';
import type { EventStreamService } from './event-stream/service.ts';
import { startEventStream } from './event-stream/start-event-stream.ts';
import { createForwardAuthentication } from './forward-authentication/forward-authentication.ts';
import { authorizePath } from './forward-authentication/route.ts';
import { createAreaForwarder } from './forwarding/forward-area.ts';
import type { Forwarder } from './forwarding/forwarder.ts';
import { createRouteTable } from './http/routing/route-table.ts';
import { withAreas } from './http/routing/with-areas.ts';
import { createAccessLog, createMalformedRequestLog } from './http/server/access-log.ts';
import { createClientAddressOf } from './http/server/client-address.ts';
import { listen } from './http/server/listener.ts';
import type { RequestContextOptions } from './http/server/request-context.ts';
import { endRequestSpan } from './http/server/request-span.ts';
import { deleteExpiredRegularly } from './idempotency/delete-expired.ts';
import { createRunOnce, type RunOnce } from './idempotency/run-once.ts';
import { createIdentityTokens, type IdentityTokens } from './identity/identity-tokens.ts';
import { type ApiMetrics, createApiMetrics } from './metrics.ts';
import { createDocument } from './openapi/document.ts';
import type { HistoryReads } from './replica/history-reads.ts';
import { type InternalFeatureParts, internalRoutes, publicRoutes } from './routes.ts';
import type { UsageCounters } from './usage/counters.ts';
import { openUsage } from './usage/open-usage.ts';

export interface StartOptions {
  log: Logger;
  clock: Clock;
  /** Validates every answer against its schema; in tests. */
  checkResponses?: boolean;
}

export interface RunningApi {
  readonly publicUrl: string;
  readonly internalUrl: string;
  stop(): Promise<void>;
}

const publicBody = { maxBytes: 64 * 1024, maxDepth: 20, maxKeys: 1_000 };
/** Deeper than the limit of an event's `data` by the envelope of a batch. */
const internalBody = { maxBytes: 4 * 1024 * 1024, maxDepth: 23, maxKeys: Number.POSITIVE_INFINITY };

/** Builds the API from its settings, and listens. What was built before something failed is closed again. */
export async function startApi(config: ApiConfig, options: StartOptions): Promise<RunningApi> {
  const foundation = { config, log: options.log, clock: options.clock, closers: createClosers(options.log) };
  try {
    return await build(foundation, options.checkResponses ?? false);
  } catch (error) {
    await foundation.closers.closeAll();
    throw error;
  }
}

/** What both listeners are made of. */
interface Parts extends Foundation {
  db: Database;
  databaseClock: DatabaseClock;
  metrics: ApiMetrics;
  history: HistoryReads;
  horizon: () => Promise<Horizon>;
  limits: RetentionLimits;
  eventStream: EventStreamService;
  onEmitted: (event: WrittenEvent) => void;
  transactAs: TransactAs;
  keyCache: KeyCache;
  rateLimiter: RateLimiter;
  databaseHealth: DatabaseHealth;
  identityTokens: IdentityTokens;
  runOnce: RunOnce;
  usage: Pick<UsageCounters, 'count'>;
  tracing: Tracing | undefined;
  life: { stopping: boolean };
  checkResponses: boolean;
}

async function build(foundation: Foundation, checkResponses: boolean): Promise<RunningApi> {
  const { config, log, clock, closers } = foundation;
  const opened = await openDatabase(foundation);
  const { db } = opened;
  const metrics = createApiMetrics(db, opened.databaseClock, config.buildCommit);
  const tracing = await startTracing(foundation, metrics);
  const find = (hash: Buffer) => {
    metrics.keyLookup();
    return findKeyByHash(db, hash);
  };
  const history = openHistoryReads(foundation, { db, metrics });
  const keyCache = createKeyCache({ find, clock });
  const { rateLimiter, redis } = await openRateLimiter(foundation);
  const horizon = createHorizonReader(() => readHorizonRows(db));
  const limits = createRetentionLimits(() => startOfRetention(db), opened.databaseClock.now);
  const events = createFollowedEvents({ db, horizon, limits, now: opened.databaseClock.now });
  const notifier = new EventNotifier(clock);
  const stream = startEventStream(foundation, { ...opened, events, keyCache, metrics, notifier, slotStore: redis });
  const notify = await openChangeFeed(foundation, [keyCache, stream, notifier]);
  notifier.connect(notify);
  const life = { stopping: false };
  const producer = openEventProducer(foundation, opened, metrics.eventsNotified);
  const onEmittedEvent = (event: WrittenEvent) => {
    metrics.event(event);
    if (!event.duplicate) notifier.emitted(event.organizationId);
  };
  const onEmitted = (events: readonly WrittenEvent[]) => {
    events.forEach(onEmittedEvent);
    producer.notify(events);
  };
  const transactAs = createTransact({ db, log, notify, onEmitted });
  const identityTokens = createIdentityTokens({ keys: config.identitySigningKeys, clock: opened.databaseClock });
  const usage = openUsage(foundation, opened);
  const runOnce = createRunOnce(createSecretBox(config.keyRing));
  const streams = { history, horizon, limits, eventStream: stream.service, onEmitted: onEmittedEvent };
  const built = {
    ...streams,
    metrics,
    transactAs,
    keyCache,
    rateLimiter,
    identityTokens,
    runOnce,
    usage,
    tracing,
    life,
    checkResponses,
  };
  const parts = { ...foundation, ...opened, ...built };
  deleteExpiredRegularly(db, closers, createLimitedWarning(log, 'expired idempotency keys not deleted'));

  const checks = buildChecks(parts);
  const internalApp = buildInternalApp(parts, checks, producer);
  const forwarder = openForwarder(foundation, parts);
  const publicApp = buildPublicApp(parts, checks, forwarder);
  const place = { trustedProxies: config.trustedProxies, onMalformedRequest: createMalformedRequestLog(log) };
  const internalPlace = { ...config.internal, ...place, setting: 'INTERNAL_HOST and INTERNAL_PORT' };
  const internal = await listen(internalApp, internalPlace);
  closers.add('internal listener', internal.close);
  const open = await listen(publicApp, {
    ...config.public,
    ...place,
    setting: 'API_HOST and API_PORT',
    onCut: forwarder.cutAll,
  });
  closers.add('public listener', open.close);
  log.info({ public_url: open.url, internal_url: internal.url }, 'listening');
  return {
    publicUrl: open.url,
    internalUrl: internal.url,
    stop: async () => {
      life.stopping = true;
      stream.stop();
      await Promise.all([open.close(), internal.close()]);
      await closers.closeAll();
    },
  };
}

/** What every request with an API key passes, on the public listener and by forward authentication. */
function buildChecks(parts: Parts) {
  const { config, db, log, clock, keyCache } = parts;
  const failures = createFailureLimit(config.authFailuresPerMinute, clock);
  const successes = createRecentSuccesses(clock);
  const judge = createJudge({
    authenticator: createAuthenticator({ cache: keyCache, failures, successes, clock }),
    rateLimiter: parts.rateLimiter,
    clock,
    onKeyUsed: openLastUsed(parts, db).note,
    onRateDecision: parts.metrics.rateDecision,
    withDatabaseCheck: parts.databaseHealth.withDatabaseCheck,
  });
  return {
    judge,
    table: withAreas(createRouteTable(publicRoutes(parts)), new Set(config.upstreams.keys())),
    addressOf: createClientAddressOf(config.trustedProxies, createForwardedForWarning(log)),
  };
}
type Checks = ReturnType<typeof buildChecks>;

function buildPublicApp(parts: Parts, { judge, table, addressOf }: Checks, forwarder: Forwarder) {
  const { log, databaseHealth, life } = parts;
  const { withDatabaseCheck } = databaseHealth;
  return createPublicApp({
    log,
    requestContext: requestContextOptions('public', parts),
    document: () => createDocument('public', table.routes),
    probes: { isReady: async () => !life.stopping && (await databaseHealth.check()) },
    api: {
      table,
      forwarder: createAreaForwarder(forwarder),
      guard: createPublicGuard(judge, addressOf),
      body: publicBody,
      actorOf: ({ key }) => toPublicId('key', key.id),
      transactAs: parts.transactAs,
      idempotency: {
        ownerOf: ({ key }) => key.organization.id,
        runOnce: parts.runOnce,
      },
      withDatabaseCheck,
      share: {
        organizationOf: ({ key }) => key.organization.id,
        within: createDatabaseShare({ connections: connectionsPerOrganization, onWaited: parts.metrics.shareWaited }),
      },
      checkResponses: parts.checkResponses,
    },
  });
}

function buildInternalApp(parts: Parts, checks: Checks, producer: BatchedProducer) {
  const queue = queueOf(parts.config);
  const jobs: Pick<InternalFeatureParts, 'countJobs' | 'newestJobs'> = {
    countJobs: () => countJobs(queue),
    newestJobs: (...asked) => newestJobs(queue, ...asked),
  };
  const table = createRouteTable(internalRoutes({ ...parts, ...jobs }, producer));
  const { internalSecrets, authorizeSecrets, eventsSecrets } = parts.config;
  const secrets = createInternalSecrets({
    service: internalSecrets,
    ingress: authorizeSecrets,
    producer: eventsSecrets,
  });
  return createInternalApp({
    log: parts.log,
    secrets,
    authorize: createForwardAuthentication({ ...checks, tokenFor: parts.identityTokens.tokenFor }),
    requestContext: requestContextOptions('internal', parts),
    registry: parts.metrics.registry,
    document: () => createDocument('internal', table.routes),
    api: {
      table,
      guard: createInternalGuard(secrets),
      body: internalBody,
      actorOf: () => 'internal',
      readsActor: true,
      transactAs: parts.transactAs,
      idempotency: { ownerOf: ({ secretId }) => secretId, runOnce: parts.runOnce },
      withDatabaseCheck: parts.databaseHealth.withDatabaseCheck,
      checkResponses: parts.checkResponses,
    },
  });
}

function requestContextOptions(
  listener: 'public' | 'internal',
  { log, clock, metrics, usage, life, tracing }: Parts,
): RequestContextOptions {
  const logRequest = createAccessLog(log);
  return {
    clock,
    isStopping: () => life.stopping,
    // An ingress passes on the headers of its client.
    continuesTrace: (path) => listener === 'internal' && !path.startsWith(authorizePath),
    tracing,
    onFinished: (context, request) => {
      const durationMs = clock.monotonic() - context.startedAtMs;
      usage.count(context);
      metrics.request(listener, context, request, durationMs);
      if (context.span !== undefined) endRequestSpan(context.span, context, request);
      logRequest(context, request, durationMs);
    },
  };
}
