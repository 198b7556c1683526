/** A panel of the dashboard: a graph over time, or with `isNumber` the latest value. */
export interface PanelSource {
  readonly title: string;
  /** One of Grafana's units. */
  readonly unit: string;
  readonly description?: string;
  readonly isNumber?: boolean;
  /** PromQL by legend; a legend may use labels of its series. `$of` stands for what selects the jobs and instances. */
  readonly queries: Readonly<Record<string, string>>;
}

export interface RowSource {
  readonly title: string;
  readonly panels: readonly PanelSource[];
}

const quantiles = (histogram: string, ofRate: string) =>
  Object.fromEntries(
    [0.5, 0.9, 0.99].map((q) => [
      `p${q * 100}`,
      `histogram_quantile(${q}, sum by (le) (${ofRate.replace('$x', histogram)}))`,
    ]),
  );

const rate = (series: string) => `rate(${series}[$__rate_interval])`;

/** The rows of the dashboard, from the whole to the parts. Gauges of the ledger are the same in every process: `max`. */
export const rows: readonly RowSource[] = [
  {
    title: 'At a glance',
    panels: [
      {
        title: 'APIs',
        unit: 'short',
        isNumber: true,
        queries: { APIs: 'count(enterprise_api_build_info{service="api", $of})' },
      },
      {
        title: 'Workers',
        unit: 'short',
        isNumber: true,
        queries: { workers: 'count(enterprise_api_build_info{service="webhook-worker", $of})' },
      },
      {
        title: 'Oldest event not fanned out',
        unit: 's',
        isNumber: true,
        queries: { age: 'max(ledger_outbox_oldest_seconds{$of})' },
      },
      {
        title: 'Overdue deliveries',
        unit: 'short',
        isNumber: true,
        queries: { overdue: 'max(ledger_overdue_deliveries{$of})' },
      },
      {
        title: 'First attempt after (median)',
        unit: 's',
        isNumber: true,
        queries: {
          median: `histogram_quantile(0.5, sum by (le) (${rate('webhook_first_attempt_seconds_bucket{$of}')}))`,
        },
      },
      {
        title: 'Requests that fail with 5xx',
        unit: 'percentunit',
        isNumber: true,
        queries: {
          share: `(sum(${rate('api_requests_total{status=~"5..", $of}')}) or vector(0)) / sum(${rate('api_requests_total{$of}')})`,
        },
      },
    ],
  },
  {
    title: 'Traffic in',
    panels: [
      {
        title: 'Requests by status',
        unit: 'reqps',
        queries: { '{{listener}} {{status}}': `sum by (listener, status) (${rate('api_requests_total{$of}')})` },
      },
      {
        title: 'Busiest routes',
        unit: 'reqps',
        queries: { '{{method}} {{route}}': `topk(8, sum by (method, route) (${rate('api_requests_total{$of}')}))` },
      },
      {
        title: 'Events accepted by type',
        unit: 'ops',
        queries: { '{{type}}': `sum by (type) (${rate('api_events_emitted_total{duplicate="false", $of}')})` },
      },
      {
        title: 'How workers were told of events',
        unit: 'ops',
        description:
          'left_to_relay: beyond 100 events of one organization in 100 ms. failed, timeout: the queue does not answer.',
        queries: { '{{outcome}}': `sum by (outcome) (${rate('api_events_notified_total{$of}')})` },
      },
      {
        title: 'Requests passed on to internal services',
        unit: 'reqps',
        queries: { '{{area}} {{outcome}}': `sum by (area, outcome) (${rate('api_forwarded_requests_total{$of}')})` },
      },
      {
        title: 'Under way',
        unit: 'short',
        queries: {
          'streams of events': 'sum(api_event_streams{$of})',
          'forwarded requests, {{area}}': 'sum by (area) (api_forwarded_requests_under_way{$of})',
        },
      },
    ],
  },
  {
    title: 'Deliveries',
    panels: [
      {
        title: 'Attempts by result',
        unit: 'ops',
        queries: { '{{result}}': `sum by (result) (${rate('webhook_attempts_total{$of}')})` },
      },
      {
        title: 'Failed attempts by error',
        unit: 'ops',
        queries: { '{{error}}': `sum by (error) (${rate('webhook_attempts_total{result!="delivered", $of}')})` },
      },
      {
        title: 'Events fanned out, deliveries created and dispatched',
        unit: 'ops',
        description:
          'relay: what no job brought. dispatched: due deliveries leased from the ledger, most of them repeated attempts.',
        queries: {
          'events, by {{by}}': `sum by (by) (${rate('webhook_events_fanned_out_total{$of}')})`,
          'deliveries created': `sum(${rate('webhook_deliveries_created_total{$of}')})`,
          'deliveries dispatched': `sum(${rate('webhook_deliveries_dispatched_total{$of}')})`,
        },
      },
      {
        title: 'In the workers',
        unit: 'short',
        queries: {
          'attempts under way': 'sum(webhook_attempts_in_flight{$of})',
          'of them for more than 1 s': 'sum(webhook_attempts_in_flight_slow{$of})',
          'leased, not started': 'sum(webhook_deliveries_waiting{$of})',
          'outcomes not recorded': 'sum(webhook_outcomes_waiting{$of})',
        },
      },
    ],
  },
  {
    title: 'Latency',
    panels: [
      {
        title: 'From the acceptance of an event to its first attempts',
        unit: 's',
        queries: quantiles('webhook_first_attempt_seconds_bucket{$of}', rate('$x')),
      },
      {
        title: 'Attempts, until the headers of the answer',
        unit: 's',
        queries: quantiles('webhook_attempt_duration_seconds_bucket{$of}', rate('$x')),
      },
      {
        title: 'API requests',
        unit: 's',
        queries: quantiles('api_request_duration_seconds_bucket{route!~".*stream.*", $of}', rate('$x')),
      },
      {
        title: 'Slowest routes (p90)',
        unit: 's',
        queries: {
          '{{route}}': `topk(8, histogram_quantile(0.9, sum by (route, le) (${rate('api_request_duration_seconds_bucket{route!~".*stream.*", $of}')})))`,
        },
      },
      {
        title: 'Internal services, until the head of the answer (p90)',
        unit: 's',
        queries: {
          '{{area}}': `histogram_quantile(0.9, sum by (area, le) (${rate('api_upstream_duration_seconds_bucket{$of}')}))`,
        },
      },
    ],
  },
  {
    title: 'Outbox and queue',
    panels: [
      {
        title: 'Events not fanned out',
        unit: 'short',
        queries: { events: 'max(ledger_outbox_events{$of})', parked: 'max(ledger_parked_events{$of})' },
      },
      { title: 'Age of the oldest event', unit: 's', queries: { age: 'max(ledger_outbox_oldest_seconds{$of})' } },
      { title: 'Overdue deliveries', unit: 'short', queries: { overdue: 'max(ledger_overdue_deliveries{$of})' } },
      {
        title: 'Jobs waiting',
        unit: 'short',
        queries: { '{{queue}}': 'max by (queue) (webhook_queue_jobs_waiting{$of})' },
      },
      {
        title: 'Trouble of the queue',
        unit: 'ops',
        queries: {
          errors: `sum(${rate('webhook_queue_errors_total{$of}')})`,
          'failed jobs, {{queue}}': `sum by (queue) (${rate('webhook_jobs_failed_total{$of}')})`,
          'consumers recreated': `sum(${rate('webhook_queue_consumers_recreated_total{$of}')})`,
          'paused, {{queue}}': 'max by (queue) (webhook_queue_paused{$of})',
          'problems of Redis': 'max(webhook_queue_redis_problems{$of})',
        },
      },
    ],
  },
  {
    title: 'Endpoints',
    panels: [
      {
        title: 'Webhooks',
        unit: 'short',
        queries: {
          '{{state}}': 'max by (state) (ledger_webhooks{$of})',
          'circuit open': 'max(ledger_open_breakers{$of})',
        },
      },
      {
        title: 'Webhooks disabled in an hour',
        unit: 'short',
        queries: { '{{reason}}': 'sum by (reason) (increase(webhook_disabled_total{$of}[1h]))' },
      },
      {
        title: 'Failures on our side',
        unit: 'ops',
        queries: {
          '{{cause}}': `sum by (cause) (${rate('webhook_local_failures_total{$of}')})`,
          'unreadable secrets': `sum(${rate('webhook_unreadable_secrets_total{$of}')})`,
          'outcomes dropped': `sum(${rate('webhook_outcomes_dropped_total{$of}')})`,
        },
      },
      {
        title: 'Sent once more, released',
        unit: 'ops',
        description:
          'Requests sent once more because a kept connection ended; leases released because the endpoint was slow or its circuit opened.',
        queries: {
          resent: `sum(${rate('webhook_requests_resent_total{$of}')})`,
          released: `sum(${rate('webhook_leases_released_total{$of}')})`,
        },
      },
    ],
  },
  {
    title: 'Limits and refusals',
    panels: [
      {
        title: 'Errors by code',
        unit: 'ops',
        queries: { '{{listener}} {{code}}': `sum by (listener, code) (${rate('api_errors_total{$of}')})` },
      },
      {
        title: 'Rate limiter',
        unit: 'ops',
        description: 'local: Redis is not there, and each process counts for itself.',
        queries: {
          '{{outcome}} ({{source}})': `sum by (outcome, source) (${rate('api_rate_limit_decisions_total{$of}')})`,
        },
      },
      {
        title: 'Shares of database connections',
        unit: 'ops',
        queries: { '{{outcome}}': `sum by (outcome) (${rate('api_database_share_waits_total{$of}')})` },
      },
      {
        title: 'Requests to forbidden addresses',
        unit: 'ops',
        queries: { 'by {{check}}': `sum by (check) (${rate('webhook_blocked_addresses_total{$of}')})` },
      },
      {
        title: 'Streams that ended',
        unit: 'ops',
        queries: { '{{reason}}': `sum by (reason) (${rate('api_event_streams_ended_total{$of}')})` },
      },
      { title: 'Event bodies in memory', unit: 'bytes', queries: { '{{instance}}': 'webhook_body_bytes{$of}' } },
    ],
  },
  {
    title: 'Ledger',
    panels: [
      {
        title: 'Connections by pool',
        unit: 'short',
        queries: {
          '{{service}} {{pool}} {{state}}': 'sum by (service, pool, state) (database_pool_connections{$of})',
          '{{service}} {{pool}} possible': 'sum by (service, pool) (database_pool_size{$of})',
        },
      },
      {
        title: 'Statements that wait for a connection',
        unit: 'short',
        queries: { '{{instance}} {{pool}}': 'database_pool_waiting{$of}' },
      },
      {
        title: 'Months',
        unit: 'short',
        queries: {
          'ahead, with partitions': 'min(ledger_partitions_ahead_months{$of})',
          'kept past their retention': 'max(ledger_retention_kept_months{$of})',
        },
      },
      { title: 'Since the end of retention', unit: 's', queries: { age: 'max(ledger_retention_age_seconds{$of})' } },
      {
        title: 'Clock ahead of the database',
        unit: 's',
        queries: { '{{instance}}': 'database_clock_offset_seconds{$of}' },
      },
      {
        title: 'Rows that contradict each other',
        unit: 'short',
        queries: { rows: 'max(ledger_invariant_violations{$of})' },
      },
      { title: 'Keys looked up', unit: 'ops', queries: { 'look-ups': `sum(${rate('api_key_lookups_total{$of}')})` } },
    ],
  },
  {
    title: 'Processes',
    panels: [
      {
        title: 'CPU time (1 is a core)',
        unit: 'short',
        queries: { '{{service}} {{instance}}': rate('process_cpu_seconds_total{$of}') },
      },
      { title: 'Memory', unit: 'bytes', queries: { '{{service}} {{instance}}': 'process_resident_memory_bytes{$of}' } },
      {
        title: 'Delay of the event loop (p99)',
        unit: 's',
        queries: { '{{service}} {{instance}}': 'nodejs_eventloop_lag_p99_seconds{$of}' },
      },
      {
        title: 'Time in garbage collection',
        unit: 'percentunit',
        queries: {
          '{{service}} {{instance}}': `sum by (service, instance) (${rate('nodejs_gc_duration_seconds_sum{$of}')})`,
        },
      },
      {
        title: 'Open file descriptors',
        unit: 'short',
        queries: { '{{service}} {{instance}}': 'process_open_fds{$of}' },
      },
      { title: 'Endpoint queues', unit: 'short', queries: { '{{instance}}': 'webhook_endpoint_queues{$of}' } },
      {
        title: 'Log lines dropped',
        unit: 'ops',
        queries: { '{{service}} {{instance}}': rate('log_lines_dropped_total{$of}') },
      },
      {
        title: 'What runs',
        unit: 'short',
        queries: {
          '{{service}} {{version}} {{commit}} Node.js {{node_version}}':
            'count by (service, version, commit, node_version) (enterprise_api_build_info{$of})',
        },
      },
    ],
  },
];
