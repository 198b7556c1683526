import { Counter, createMetrics, Gauge, Histogram, uuidTimeMs } from '@enterprise-api/shared/runtime';
import type { Outcome } from './outcomes/outcome.ts';
import type { KnownPauses } from './pauses/sending-pauses.ts';
import type { LocalCause } from './sender/failures.ts';

/** From the quickest delivery to one that waited behind an open circuit for hours. */
const firstAttemptBuckets = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800, 7_200, 21_600,
];

/** Everything the worker counts. Names follow the Prometheus conventions: base units, `_total` for counters. */
export function createWorkerMetrics(commit: string | undefined) {
  const registry = createMetrics('webhook-worker', commit);
  const registers = [registry];
  return {
    registry,
    attempts: new Counter({
      name: 'webhook_attempts_total',
      help: 'Attempts by result (delivered, retry, stop) and error.',
      labelNames: ['result', 'error'],
      registers,
    }),
    localFailures: new Counter({
      name: 'webhook_local_failures_total',
      help: 'Attempts that failed on our side (file_descriptors, local_ports, network, resolver); receivers are not charged.',
      labelNames: ['cause'],
      registers,
    }),
    requestsResent: new Counter({
      name: 'webhook_requests_resent_total',
      help: 'Requests sent once more because their kept connection ended before the first byte of an answer.',
      registers,
    }),
    attemptSeconds: new Histogram({
      name: 'webhook_attempt_duration_seconds',
      help: 'From the start of an attempt to the complete headers of its answer, or to its failure.',
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30],
      registers,
    }),
    firstAttemptSeconds: new Histogram({
      name: 'webhook_first_attempt_seconds',
      help: 'From the acceptance of an event to the start of the first attempt of each of its deliveries.',
      buckets: firstAttemptBuckets,
      registers,
    }),
    blockedAddresses: new Counter({
      name: 'webhook_blocked_addresses_total',
      help: 'Requests refused by the rules for addresses, by what was checked (url, name, connection).',
      labelNames: ['check'],
      registers,
    }),
    consumersRecreated: new Counter({
      name: 'webhook_queue_consumers_recreated_total',
      help: 'Times that the consumers of the queue were recreated because jobs waited and none came.',
      registers,
    }),
    eventsFannedOut: new Counter({
      name: 'webhook_events_fanned_out_total',
      help: 'Events turned into deliveries, by what brought them (job, relay).',
      labelNames: ['by'],
      registers,
    }),
    deliveriesCreated: new Counter({
      name: 'webhook_deliveries_created_total',
      help: 'Delivery rows written when this process fanned events out.',
      registers,
    }),
    deliveriesDispatched: new Counter({
      name: 'webhook_deliveries_dispatched_total',
      help: 'Deliveries leased from the ledger because they were due.',
      registers,
    }),
    leasesReleased: new Counter({
      name: 'webhook_leases_released_total',
      help: 'Leases released without an attempt.',
      registers,
    }),
    outcomesDropped: new Counter({
      name: 'webhook_outcomes_dropped_total',
      help: 'Outcomes that could not be recorded; their deliveries are sent again.',
      registers,
    }),
    jobsFailed: new Counter({
      name: 'webhook_jobs_failed_total',
      help: 'Jobs that were malformed, of an unknown version, or could not be done.',
      labelNames: ['queue'],
      registers,
    }),
    queueErrors: new Counter({
      name: 'webhook_queue_errors_total',
      help: 'Errors of the connection to the queue.',
      registers,
    }),
    webhooksDisabled: new Counter({
      name: 'webhook_disabled_total',
      help: 'Webhooks disabled by this process, by reason.',
      labelNames: ['reason'],
      registers,
    }),
    unreadableSecrets: new Counter({
      name: 'webhook_unreadable_secrets_total',
      help: 'Times that a webhook secret could not be opened with the key ring.',
      registers,
    }),
    /** A gauge whose value is read at each scrape. */
    gauge: (name: string, help: string, read: () => number) =>
      new Gauge({
        name,
        help,
        registers,
        collect() {
          this.set(read());
        },
      }),
  };
}

export type WorkerMetrics = ReturnType<typeof createWorkerMetrics>;

export function countAttempt(metrics: WorkerMetrics, outcome: Outcome, localCause: LocalCause | null): void {
  metrics.attempts.inc({ result: outcome.result, error: outcome.error ?? '' });
  metrics.attemptSeconds.observe(outcome.durationMs / 1_000);
  const { number, round, manual, deliveryId, startedAt } = outcome;
  // A delivery's id has the time of its event; both times are the database's. Redeliveries follow a person's clock.
  if (number === 1 && round === 0 && !manual)
    metrics.firstAttemptSeconds.observe(Math.max(0, startedAt.getTime() - uuidTimeMs(deliveryId)) / 1_000);
  if (localCause !== null) metrics.localFailures.inc({ cause: localCause });
}

/** Gauges of what the stages hold at the moment. */
export function registerStageGauges(
  { gauge }: WorkerMetrics,
  stages: {
    scheduler: { figures: Readonly<Record<'queues' | 'running' | 'slow' | 'waiting', number>> };
    bodies: { readonly bytes: number };
    pauses: KnownPauses;
    outcomes: { readonly waiting: number };
  },
): void {
  const { scheduler, bodies, pauses, outcomes } = stages;
  gauge('webhook_attempts_in_flight', 'Attempts under way.', () => scheduler.figures.running);
  gauge('webhook_attempts_in_flight_slow', 'Attempts under way for more than 1 s.', () => scheduler.figures.slow);
  gauge('webhook_deliveries_waiting', 'Leased deliveries waiting to start.', () => scheduler.figures.waiting);
  gauge('webhook_endpoint_queues', 'Webhooks with an endpoint queue in this process.', () => scheduler.figures.queues);
  gauge('webhook_sending_paused', '1 while an operator holds back all deliveries.', () => Number(pauses.isAllPaused));
  gauge(
    'webhook_sending_paused_organizations',
    'Organizations whose deliveries an operator holds back.',
    () => pauses.organizationIds.length,
  );
  gauge(
    'webhook_body_bytes',
    'Bytes of the event bodies in memory, once per event, and once more per lease for what TLS holds.',
    () => bodies.bytes,
  );
  gauge('webhook_outcomes_waiting', 'Outcomes not recorded yet.', () => outcomes.waiting);
}
