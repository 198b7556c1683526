import { type RowSource, rate } from './panel.ts';

/** Endpoints, limits, the ledger and the processes. */
export const partRows: readonly RowSource[] = [
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
      {
        title: 'History lists',
        unit: 'ops',
        description: 'With DATABASE_REPLICA_URL: from where lists that may be read from the replica were read.',
        queries: {
          'from the {{place}}': `sum by (place) (${rate('api_history_reads_total{$of}')})`,
        },
      },
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
