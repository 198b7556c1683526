import { maxJsonDepth } from '@enterprise-api/shared/contracts';
import { createBatchedProducer, type WrittenEvent } from '@enterprise-api/shared/events';
import { createDatabaseClock, createPartitionLoop, type Database, keepMeasuring } from '@enterprise-api/shared/ledger';
import { runPreflightChecks } from '@enterprise-api/shared/preflight';
import { createJobProducer, createNotifier, selectQueueBackend } from '@enterprise-api/shared/queue';
import {
  closeWithinMs,
  createClosers,
  createLimitedWarning,
  startLoop,
  toPublicId,
} from '@enterprise-api/shared/runtime';
import { openTracing } from '@enterprise-api/shared/tracing';
import { createPublicGuard } from './auth/guard.ts';
import { createInternalGuard, createInternalSecrets } from './auth/internal-guard.ts';
import type { Principal } from './auth/judge.ts';
import { openJudge } from './auth/open-judge.ts';
import type { ApiConfig } from './config.ts';
import { serveConsole } from './console/serve.ts';
import { deleteOldSessions } from './console/service.ts';
import { openChangeFeed } from './core/change-feed.ts';
import { connectionsPerOrganization, createDatabaseShare } from './core/database-share.ts';
import { applicationName, type Foundation } from './core/foundation.ts';
import { openDatabase, openServer } from './core/open-database.ts';
import { createTransact } from './core/unit-of-work.ts';
import { createFollowedEvents } from './event-history/followed-events.ts';
import { createHorizonReader } from './event-history/horizon.ts';
import { createRetentionLimits } from './event-history/queries.ts';
import { startEventStream } from './event-stream/service.ts';
import { createEmissionReport } from './events/service.ts';
import { authorizePath, forwardAuthenticationRoute } from './forward-authentication/route.ts';
import { createForwarder, type Forwarder } from './forwarding/forwarder.ts';
import { createRouteTable, type RouteTable } from './http/routing/route-table.ts';
import { serveRoutes } from './http/routing/serve-routes.ts';
import { withAreas } from './http/routing/with-areas.ts';
import { createApp, judgedByDecodedPath } from './http/server/app.ts';
import { createClientAddressOf } from './http/server/client-address.ts';
import { listen } from './http/server/listener.ts';
import type { RequestContextOptions } from './http/server/request-context.ts';
import { serveMetrics, serveProbes } from './http/server/serve-fixed.ts';
import { deleteOldRowsRegularly } from './idempotency/delete-expired.ts';
import { createRunOnce } from './idempotency/run-once.ts';
import { createIdentityTokens } from './identity/identity-tokens.ts';
import { createApiMetrics } from './metrics.ts';
import { serveDocument } from './openapi/serve-document.ts';
import { followClosings } from './organizations/closings.ts';
import { referenceRoute } from './reference/route.ts';
import { type HistoryReads, openHistoryReads } from './replica/history-reads.ts';
import { consoleRoutes, internalRoutes, publicRoutes } from './routes.ts';
import { openUsage } from './usage/open-usage.ts';

export interface StartOptions extends Pick<Foundation, 'log' | 'clock'> {
  checkResponses?: boolean;
}

export interface RunningApi {
  readonly publicUrl: string;
  readonly internalUrl: string;
  stop(): Promise<void>;
}

const publicBody = { maxBytes: 64 * 1024, maxDepth: maxJsonDepth, maxKeys: 1_000 };
/** `maxDepth` exceeds the depth limit of an event's `data` by the levels of a batch's envelope. */
const internalBody = { maxBytes: 4 * 1024 * 1024, maxDepth: maxJsonDepth + 3, maxKeys: Number.POSITIVE_INFINITY };

/** Builds the API from its settings and listens. If a step fails, closes everything built so far. */
export async function startApi(config: ApiConfig, options: StartOptions): Promise<RunningApi> {
  const closers = createClosers(options.log);
  const warn = (message: string) => createLimitedWarning(options.log, message);
  const life = { stopping: false };
  try {
    const ledger = await openLedger({ checkResponses: false, ...options, config, closers, warn, life });
    return await listenOnBoth(await openEvents(await openChecks(ledger)));
  } catch (error) {
    await closers.closeAll();
    throw error;
  }
}

interface Process extends Foundation, Required<StartOptions> {
  config: ApiConfig;
  warn: (message: string) => ReturnType<typeof createLimitedWarning>;
  life: { stopping: boolean };
}

async function openLedger(started: Process) {
  const { config, log, clock, closers, warn } = started;
  const settings = { ...config.ledger.pool, applicationName, onError: warn('database connection lost') };
  const { db, ...health } = openDatabase(started, settings);
  const databaseClock = createDatabaseClock(clock);
  // Use no pooler. BullMQ sets the search path of its sessions and uses LISTEN, and poolers support neither.
  const queue = selectQueueBackend({ redisUrl: config.redisUrl, databaseUrl: config.ledger.directUrl });
  await runPreflightChecks({ db, pooled: settings.pooled, queue, clock: databaseClock, log });
  closers.add('database clock', keepMeasuring(databaseClock, db, warn('database clock not measured')));
  startLoop(closers, 'partition loop', createPartitionLoop(db, warn('partitions could not be created')));
  const metrics = createApiMetrics(db, databaseClock, config.buildCommit);
  const tracing = await openTracing(config.tracing, { serviceName: applicationName, log, registry: metrics.registry });
  // Tracing closes after the parts that use it, so that it records their spans while they close.
  if (tracing !== undefined) closers.add('tracing', tracing.stop);
  const history = openHistory(started, db, metrics.history);
  deleteOldRowsRegularly(db, closers, warn('expired idempotency keys not deleted'));
  deleteOldRowsRegularly(db, closers, warn('old console sessions not deleted'), { remove: deleteOldSessions });
  return { ...started, ...health, db, databaseClock, queue, metrics, tracing, history };
}

function openHistory(
  started: Process,
  db: Database,
  { registerPool, onRead }: ReturnType<typeof createApiMetrics>['history'],
): HistoryReads {
  const { replicaUrl: url, ledger } = started.config;
  if (url === undefined) return (read) => read(db);
  const settings = { ...ledger.pool, url, applicationName, onError: started.warn('connection to the replica lost') };
  const replica = openServer(started, 'replica', settings, closeWithinMs);
  registerPool('replica', replica);
  return openHistoryReads(started, { primary: db, replica, onRead });
}

async function openChecks(ledger: Awaited<ReturnType<typeof openLedger>>) {
  const { config, db, databaseClock, withDatabaseCheck, metrics } = ledger;
  const judged = await openJudge(ledger, { ...config, ...metrics.judgement, db, withDatabaseCheck });
  return {
    ...ledger,
    ...judged,
    addressOf: createClientAddressOf(config.trustedProxies, ledger.log),
    usage: openUsage(ledger, ledger),
    identityTokens: createIdentityTokens({ keys: config.identitySigningKeys, clock: databaseClock }),
    runOnce: createRunOnce(config.keyRing),
  };
}

async function openEvents(parts: Awaited<ReturnType<typeof openChecks>>) {
  const { config, log, clock, closers, warn, db, databaseClock, metrics, keyCache } = parts;
  const horizon = createHorizonReader(db);
  const limits = createRetentionLimits(db, databaseClock.now);
  const stream = startEventStream(parts, {
    databaseClock,
    keyCache,
    events: createFollowedEvents({ db, horizon, limits, now: databaseClock.now }),
    slotStore: parts.redis,
    ...metrics.streams,
  });
  const closings = followClosings(db, parts);
  const notifyOfChange = await openChangeFeed(parts, config, [keyCache, stream, closings]);
  stream.notifier.connect(notifyOfChange);
  const jobs = createJobProducer(parts.queue, 'fanOut', warn('queue unavailable'));
  closers.add('event queue', () => jobs.close());
  const { onEmitted, onNotified } = createEmissionReport(metrics.events, stream.notifier);
  const notifier = createNotifier({ producer: jobs, clock, onOutcome: onNotified });
  closers.add('notifier', notifier.flush, closeWithinMs);
  const producer = createBatchedProducer({ db, notifier, clock: databaseClock });
  const onCommitted = (events: readonly WrittenEvent[]) => {
    onEmitted(events);
    producer.notify(events);
  };
  const transactAs = createTransact({ db, log, notify: notifyOfChange, onEmitted: onCommitted });
  return { ...parts, closings, horizon, limits, stream, eventStream: stream.service, producer, onEmitted, transactAs };
}
type Parts = Awaited<ReturnType<typeof openEvents>>;

async function listenOnBoth(parts: Parts): Promise<RunningApi> {
  const { config, log, closers, life, metrics } = parts;
  const table = withAreas(createRouteTable(publicRoutes(parts)), new Set(config.upstreams.keys()));
  const forwarder = createForwarder({
    upstreams: config.upstreams,
    limits: config.forwardingLimits,
    ca: config.upstreamCa,
    trustedProxies: config.trustedProxies,
    clock: parts.clock,
    identityToken: parts.identityTokens.tokenFor,
    tracing: parts.tracing,
    ...metrics.forwarding,
  });
  closers.add('forwarder', async () => forwarder.close());
  parts.closings.onClosed(forwarder.cutOrganization);
  const common = { log, trustedProxies: config.trustedProxies };
  const internalPlace = { ...config.internal, ...common, setting: 'INTERNAL_HOST and INTERNAL_PORT' };
  const internal = await listen(internalApp(parts, table), internalPlace);
  closers.add('internal listener', internal.close);
  const publicPlace = { ...config.public, ...common, setting: 'API_HOST and API_PORT', onCut: forwarder.cutAll };
  const open = await listen(publicApp(parts, table, forwarder), publicPlace);
  closers.add('public listener', open.close);
  log.info({ public_url: open.url, internal_url: internal.url }, 'listening');
  const stop = async () => {
    life.stopping = true;
    parts.stream.stop();
    await Promise.all([open.close(), internal.close()]);
    await closers.closeAll();
  };
  return { publicUrl: open.url, internalUrl: internal.url, stop };
}

/** Serves `/v1`, `/scim/v2`, the console if it is on, the reference pages, the OpenAPI document, and the probes. */
function publicApp(parts: Parts, table: RouteTable<Principal>, forwarder: Forwarder) {
  const within = createDatabaseShare({ connections: connectionsPerOrganization, ...parts.metrics.share });
  const served = { ...parts, body: publicBody, within };
  const serve = serveRoutes({
    ...served,
    table,
    forwarder,
    guard: createPublicGuard(parts.judge, parts.addressOf),
    actorOf: ({ key }) => toPublicId('key', key.id),
    readsActor: false,
    ownerOf: ({ key }) => key.organization.id,
  });
  const { config, consoleJudge: judge, check, life } = parts;
  const settings = config.console;
  const ofConsole = settings && judge && { ...served, settings, judge, publicRoutes: table.routes };
  return createApp(appOptions('public', parts), (app) => {
    app.use(judgedByDecodedPath(serve));
    if (ofConsole) app.use(serveConsole({ ...ofConsole, ...consoleRoutes(ofConsole) }));
    app.use(referenceRoute(table.routes, config));
    serveProbes(app, async () => !life.stopping && (await check()));
    serveDocument(app, 'public', table.routes);
  });
}

/** Serves `/internal/v1`, forward authentication, the metrics, and the OpenAPI document. */
function internalApp(parts: Parts, publicTable: RouteTable<Principal>) {
  const { config, metrics, judge, addressOf, identityTokens } = parts;
  const table = createRouteTable(internalRoutes(parts, parts.producer));
  const { internalSecrets: service, authorizeSecrets: ingress, eventsSecrets: producer } = config;
  const secrets = createInternalSecrets({ service, ingress, producer });
  const serve = serveRoutes({
    ...parts,
    table,
    guard: createInternalGuard(secrets),
    body: internalBody,
    actorOf: () => 'internal',
    readsActor: true,
    ownerOf: ({ secretId }) => secretId,
  });
  const asked = { judge, addressOf, table: publicTable, tokenFor: identityTokens.tokenFor };
  return createApp(appOptions('internal', parts), (app) => {
    // Mount without an exact match: Envoy appends the path of the request that it asks about.
    app.use(authorizePath, forwardAuthenticationRoute(asked, secrets));
    serveDocument(app, 'internal', table.routes);
    app.use('/internal', serve);
    serveMetrics(app, metrics.registry);
  });
}

function appOptions(listener: 'public' | 'internal', parts: Parts): RequestContextOptions {
  const { log, clock, metrics, usage, life, tracing } = parts;
  // An ingress forwards its client's headers, so this API must not continue the trace that they name.
  const continuesTrace = (path: string) => listener === 'internal' && !path.startsWith(authorizePath);
  return { listener, log, clock, life, tracing, continuesTrace, usage, metrics: metrics.requests };
}
