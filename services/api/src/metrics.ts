import type { AnnouncementOutcome, WrittenEvent } from '@enterprise-api/shared/events';
import {
  clockOffsetGauge,
  type Database,
  type DatabaseClock,
  ledgerFigures,
  ledgerGauges,
} from '@enterprise-api/shared/ledger';
import {
  Counter,
  createMetrics,
  Gauge,
  Histogram,
  type Registry,
  registerFigures,
} from '@enterprise-api/shared/runtime';
import type { RateDecision } from './auth/rate-limit.ts';
import type { FinishedRequest } from './http/server/access-log.ts';
import type { Exchange } from './http/server/request-context.ts';

export type ApiMetrics = ReturnType<typeof createApiMetrics>;

/** What the API counts. Labels have few values: routes, never paths; no organization, no key. */
export function createApiMetrics(db: Database, databaseClock: DatabaseClock) {
  const registry = createMetrics('api');
  const counters = createCounters(registry);
  registerFigures(registry, ledgerGauges, () => ledgerFigures(db));
  new Gauge({
    ...clockOffsetGauge,
    registers: [registry],
    collect() {
      this.set(databaseClock.offsetMs() / 1_000);
    },
  });
  return {
    registry,
    request: (listener: 'public' | 'internal', exchange: Exchange, request: FinishedRequest, durationMs: number) => {
      const { route, errorCode } = exchange;
      const labels = { listener, method: methodLabel(request.method), route };
      counters.requests.inc({ ...labels, status: request.status });
      counters.durations.observe(labels, durationMs / 1_000);
      if (errorCode !== undefined) counters.errors.inc({ listener, code: errorCode });
    },
    rateDecision: (decision: RateDecision) =>
      counters.rateDecisions.inc({ outcome: decision.allowed ? 'allowed' : 'limited', source: decision.source }),
    keyLookup: () => counters.keyLookups.inc(),
    event: (event: WrittenEvent) => counters.events.inc({ type: event.type, duplicate: String(event.duplicate) }),
    announcement: (outcome: AnnouncementOutcome, events: number) => counters.announcements.inc({ outcome }, events),
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
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
      registers,
    }),
    errors: new Counter({
      name: 'api_errors_total',
      help: 'Answers that are errors, by code; unauthorized and forbidden ones tell how authentication goes.',
      labelNames: ['listener', 'code'],
      registers,
    }),
    rateDecisions: new Counter({
      name: 'api_rate_limit_decisions_total',
      help: 'Decisions of the rate limiter; local ones count this process alone, as when Redis is away.',
      labelNames: ['outcome', 'source'],
      registers,
    }),
    keyLookups: new Counter({
      name: 'api_key_lookups_total',
      help: 'API keys that had to be looked up in the database; the others were known, or could not be keys.',
      registers,
    }),
    events: new Counter({
      name: 'api_events_emitted_total',
      help: 'Events accepted; duplicates are known ids that came again.',
      labelNames: ['type', 'duplicate'],
      registers,
    }),
    announcements: new Counter({
      name: 'api_events_announced_total',
      help: 'Events that workers were told of through the queue, and those left to the relay.',
      labelNames: ['outcome'],
      registers,
    }),
  };
}

const methods = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']);

/** Clients may invent methods; metrics must not grow with them. */
function methodLabel(method: string): string {
  return methods.has(method) ? method : 'other';
}
