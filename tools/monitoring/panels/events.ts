import { quantiles, type RowSource, rate } from './panel.ts';

/** The whole, and the way of an event through the product. */
export const eventRows: readonly RowSource[] = [
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
          'left_to_relay: requests of more than 50 events, and all while 20 jobs wait. failed, timeout: the queue does not answer.',
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
      {
        title: 'Sending paused',
        unit: 'short',
        queries: {
          'for all': 'max(webhook_sending_paused{$of})',
          organizations: 'max(webhook_sending_paused_organizations{$of})',
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
];
