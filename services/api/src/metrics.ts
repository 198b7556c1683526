import type { Area } from '@enterprise-api/shared/contracts';
import { type Database, type DatabaseClock, registerLedgerMetrics } from '@enterprise-api/shared/ledger';
import {
  Counter,
  createMetrics,
  exponentialBuckets,
  Gauge,
  Histogram,
  type Registry,
} from '@enterprise-api/shared/runtime';
import type { RateDecision } from './auth/rate-limit.ts';
import type { StreamEnd } from './event-stream/open-streams.ts';
import type { ForwardOutcome } from './forwarding/forwarder.ts';

/** From one millisecond to more than the default time limit of an upstream. */
const buckets = exponentialBuckets(0.001, 2.5, 14);

/** Label values stay few: routes instead of paths, no organizations and no keys. */
export function createApiMetrics(db: Database, databaseClock: DatabaseClock, commit: string | undefined) {
  const registry = createMetrics('api', commit);
  const counters = createCounters(registry);
  const registerPool = registerLedgerMetrics(registry, databaseClock, db);
  return {
    registry,
    requests: { requests: counters.requests, durations: counters.durations, errors: counters.errors },
    events: { emitted: counters.events, notified: counters.eventsNotified },
    judgement: {
      onKeyLookup: () => counters.keyLookups.inc(),
      onRateDecision: (decision: RateDecision) =>
        counters.rateDecisions.inc({ outcome: decision.allowed ? 'allowed' : 'limited', source: decision.source }),
      onOutsideAllowlist: () => counters.outsideAllowlist.inc(),
    },
    forwarding: {
      onStart: (area: Area) => counters.forwarding.inc({ area }),
      onEnd: (area: Area, outcome: ForwardOutcome, upstreamMs?: number) => {
        counters.forwarded.inc({ area, outcome });
        if (outcome !== 'rate_limited') counters.forwarding.dec({ area });
        if (upstreamMs !== undefined) counters.upstreamDurations.observe({ area }, upstreamMs / 1_000);
      },
      onPermit: (area: Area, change: 1 | -1) => counters.upstreamPermits.inc({ area }, change),
    },
    streams: {
      onOpened: () => counters.streams.inc(),
      onEnded: (reason: StreamEnd) => {
        counters.streams.dec();
        counters.streamsEnded.inc({ reason });
      },
    },
    share: { onWaited: (outcome: 'granted' | 'refused') => counters.shareWaits.inc({ outcome }) },
    history: {
      /** Adds the connection pool of a further server, such as the replica. */
      registerPool,
      onRead: (place: 'replica' | 'primary') => counters.historyReads.inc({ place }),
    },
  };
}

function createCounters(registry: Registry) {
  const registers = [registry];
  const request = ['listener', 'method', 'route'];
  return {
    requests: new Counter({
      name: 'api_requests_total',
      help: 'Requests answered.',
      labelNames: [...request, 'status'],
      registers,
    }),
    durations: new Histogram({
      name: 'api_request_duration_seconds',
      help: 'Time from the head of a request to the end of its answer.',
      labelNames: request,
      buckets,
      registers,
    }),
    errors: new Counter({
      name: 'api_errors_total',
      help: 'Errors returned, by code.',
      labelNames: ['listener', 'code'],
      registers,
    }),
    rateDecisions: new Counter({
      name: 'api_rate_limit_decisions_total',
      help: 'Decisions of the rate limiter. While Redis is unavailable, each process counts its own requests (local).',
      labelNames: ['outcome', 'source'],
      registers,
    }),
    forwarding: new Gauge({
      name: 'api_forwarded_requests_under_way',
      help: 'Requests that were passed on to an upstream and have not ended.',
      labelNames: ['area'],
      registers,
    }),
    forwarded: new Counter({
      name: 'api_forwarded_requests_total',
      help: 'Requests to areas with an upstream, by how they ended.',
      labelNames: ['area', 'outcome'],
      registers,
    }),
    upstreamPermits: new Gauge({
      name: 'api_upstream_permits',
      help: 'Permits of API_UPSTREAM_CONCURRENCY in use, over all organizations.',
      labelNames: ['area'],
      registers,
    }),
    upstreamDurations: new Histogram({
      name: 'api_upstream_duration_seconds',
      help: "Time until the head of an upstream's answer arrived, or the request failed.",
      labelNames: ['area'],
      buckets,
      registers,
    }),
    streams: new Gauge({ name: 'api_event_streams', help: 'Streams of events that are open.', registers }),
    streamsEnded: new Counter({
      name: 'api_event_streams_ended_total',
      help: 'Ended event streams, by reason: the client left, was too slow or lost access; the process stopped or failed.',
      labelNames: ['reason'],
      registers,
    }),
    shareWaits: new Counter({
      name: 'api_database_share_waits_total',
      help: 'Requests that waited because their organization used its whole share of database connections.',
      labelNames: ['outcome'],
      registers,
    }),
    historyReads: new Counter({
      name: 'api_history_reads_total',
      help: 'History lists that may be read from a replica, by where they were read. Without DATABASE_REPLICA_URL none is counted.',
      labelNames: ['place'],
      registers,
    }),
    keyLookups: new Counter({
      name: 'api_key_lookups_total',
      help: 'API keys looked up in the database. Cached and malformed keys need no lookup.',
      registers,
    }),
    outsideAllowlist: new Counter({
      name: 'api_key_outside_allowlist_total',
      help: 'Requests from outside the allowlist of their key, which reports such requests instead of refusing them.',
      registers,
    }),
    events: new Counter({
      name: 'api_events_emitted_total',
      help: 'Events accepted; duplicates repeat an id of the same organization.',
      labelNames: ['type', 'duplicate'],
      registers,
    }),
    eventsNotified: new Counter({
      name: 'api_events_notified_total',
      help: 'Events that workers were notified of through the queue, and events left to the relay, by outcome.',
      labelNames: ['outcome'],
      registers,
    }),
  };
}
