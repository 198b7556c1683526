import { Counter, createMetrics, exponentialBuckets, Gauge, Histogram } from '@enterprise-api/shared/runtime';
import type { KnownPauses } from './pauses/sending-pauses.ts';

/** Ranges from the quickest delivery to a delivery that waited for hours behind an open circuit. */
const buckets = exponentialBuckets(0.005, 2, 23);

/** Names follow the Prometheus conventions: base units, `_total` for counters. */
export function createWorkerMetrics(commit: string | undefined) {
  const registry = createMetrics('webhook-worker', commit);
  const registers = [registry];
  const counter = <Label extends string = never>(name: string, help: string, ...labelNames: Label[]) =>
    new Counter({ name, help, labelNames, registers });
  const histogram = (name: string, help: string) => new Histogram({ name, help, buckets, registers });
  return {
    registry,
    attempts: counter(
      'webhook_attempts_total',
      'Attempts by result (delivered, retry, stop) and error.',
      'result',
      'error',
    ),
    localFailures: counter(
      'webhook_local_failures_total',
      'Attempts that failed on our side (file_descriptors, local_ports, network, resolver); receivers are not charged.',
      'cause',
    ),
    requestsResent: counter(
      'webhook_requests_resent_total',
      'Requests sent again because their kept connection ended before the first byte of an answer.',
    ),
    attemptSeconds: histogram(
      'webhook_attempt_duration_seconds',
      'From the start of an attempt to the complete headers of its answer, or to its failure.',
    ),
    firstAttemptSeconds: histogram(
      'webhook_first_attempt_seconds',
      'From the acceptance of an event to the start of the first attempt of each of its deliveries.',
    ),
    blockedAddresses: counter(
      'webhook_blocked_addresses_total',
      'Requests refused by the address rules, by the checked part (url, name, connection).',
      'check',
    ),
    consumersRecreated: counter(
      'webhook_queue_consumers_recreated_total',
      'Times that the consumers of the queue were recreated because jobs waited and none arrived.',
    ),
    eventsFannedOut: counter(
      'webhook_events_fanned_out_total',
      'Events turned into deliveries, by trigger (job, relay).',
      'by',
    ),
    deliveriesCreated: counter(
      'webhook_deliveries_created_total',
      'Delivery rows written when this process fanned events out.',
    ),
    deliveriesDispatched: counter(
      'webhook_deliveries_dispatched_total',
      'Deliveries leased from the ledger because they were due.',
    ),
    leasesReleased: counter('webhook_leases_released_total', 'Leases released without an attempt.'),
    outcomesDropped: counter(
      'webhook_outcomes_dropped_total',
      'Outcomes that could not be recorded; their deliveries are sent again.',
    ),
    jobsFailed: counter(
      'webhook_jobs_failed_total',
      'Jobs that were malformed, of an unknown version, or could not be done.',
      'queue',
    ),
    queueErrors: counter('webhook_queue_errors_total', 'Errors of the connection to the queue.'),
    webhooksDisabled: counter('webhook_disabled_total', 'Webhooks disabled by this process, by reason.', 'reason'),
    unreadableSecrets: counter(
      'webhook_unreadable_secrets_total',
      'Times that a webhook secret could not be opened with the key ring.',
    ),
  };
}

export type WorkerMetrics = ReturnType<typeof createWorkerMetrics>;

export function registerStageGauges(
  { registry }: WorkerMetrics,
  stages: {
    scheduler: { figures: Readonly<Record<'queues' | 'running' | 'slow' | 'waiting', number>> };
    leaseLoader: { readonly bodyBytes: number };
    pauses: KnownPauses;
    outcomes: { readonly waiting: number };
  },
): void {
  const { scheduler, leaseLoader, pauses, outcomes } = stages;
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read());
      },
    });
  gauge('webhook_attempts_in_flight', 'Attempts under way.', () => scheduler.figures.running);
  gauge('webhook_attempts_in_flight_slow', 'Attempts under way for more than 1 s.', () => scheduler.figures.slow);
  gauge('webhook_deliveries_waiting', 'Leased deliveries waiting to start.', () => scheduler.figures.waiting);
  gauge('webhook_endpoint_queues', 'Webhooks with an endpoint queue in this process.', () => scheduler.figures.queues);
  gauge('webhook_sending_paused', '1 while an operator holds back all deliveries.', () => Number(pauses.isAllPaused));
  gauge(
    'webhook_sending_paused_organizations',
    'Organizations whose deliveries an operator holds back.',
    () => pauses.organizationIds.size,
  );
  gauge(
    'webhook_body_bytes',
    'Bytes of the event bodies in memory: one copy per event, and one per lease in the buffers of TLS.',
    () => leaseLoader.bodyBytes,
  );
  gauge('webhook_outcomes_waiting', 'Outcomes not recorded yet.', () => outcomes.waiting);
}
