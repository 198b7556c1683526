import type { InspectedWebhook, QueueCounts, Sending, Stats } from '../internal/types.ts';
import type { Field } from '../output/printer.ts';
import type { Column } from '../output/table.ts';
import { count, orDash, time } from './format.ts';

export function sendingFields({ paused, organization_id, since }: Sending): Field[] {
  return [
    ['sending', paused ? 'paused' : 'goes on'],
    ['of', organization_id ?? 'everybody'],
    ['since', since === null ? undefined : time(since)],
  ];
}

export function statsFields(stats: Stats): Field[] {
  const capped = (number: number) => count(number) + (number >= stats.counts_stop_at ? '+' : '');
  const { sending, outbox, deliveries, webhooks, partitions, retention } = stats;
  const lately = (period: Stats['last_hour']) =>
    `${capped(period.created)} made, of these ${capped(period.succeeded)} succeeded, ${capped(period.pending)} pending, ` +
    `${capped(period.failed)} failed, ${capped(period.canceled)} canceled; ${capped(period.failed_attempts)} failed attempts`;
  return [
    ['at', time(stats.at)],
    ['sending', sending.paused ? `paused since ${time(sending.since)}` : 'goes on'],
    ['paused organizations', pausedText(stats, capped)],
    ['outbox', outboxText(outbox, capped)],
    ['parked events', capped(stats.parked_events)],
    [
      'deliveries',
      `${capped(deliveries.pending)} pending, ${capped(deliveries.due)} due, ${capped(deliveries.overdue)} overdue`,
    ],
    ['last minute', lately(stats.last_minute)],
    ['last hour', lately(stats.last_hour)],
    [
      'webhooks',
      `${capped(webhooks.open_circuits)} with an open circuit; disabled: ${capped(webhooks.disabled_failing)} failing, ${capped(webhooks.disabled_gone)} gone`,
    ],
    ['partitions', `${orDash(partitions.oldest_month)} to ${orDash(partitions.newest_month)}`],
    [
      'retention',
      `complete at ${time(retention.completed_at)}, ${retention.kept_months} months kept beyond their time`,
    ],
  ];
}

function pausedText({ sending }: Stats, capped: (number: number) => string): string {
  const ids = sending.organizations.map(({ organization_id }) => organization_id);
  return [capped(sending.paused_organizations), ...ids].join('  ');
}

function outboxText({ events, oldest_seconds }: Stats['outbox'], capped: (number: number) => string): string {
  return oldest_seconds === null ? 'empty' : `${capped(events)} events, the oldest ${oldest_seconds.toFixed(1)} s old`;
}

export const queueColumns: Column<QueueCounts>[] = [
  { title: 'QUEUE', text: ({ name, is_paused }) => (is_paused ? `${name} (paused)` : name) },
  { title: 'WAITING', text: ({ waiting }) => count(waiting), align: 'right' },
  { title: 'ACTIVE', text: ({ active }) => count(active), align: 'right' },
  { title: 'DELAYED', text: ({ delayed }) => count(delayed), align: 'right' },
  { title: 'FAILED', text: ({ failed }) => count(failed), align: 'right' },
  { title: 'WORKERS', text: ({ workers }) => orDash(workers), align: 'right' },
];

export function healthFields({ organization_id, sending_paused, health }: InspectedWebhook): Field[] {
  return [
    ['organization', organization_id],
    ['sending', sending_paused ? 'paused' : 'goes on'],
    ['failures in a row', count(health.consecutive_failures)],
    ['failed attempts', `${count(health.failed_attempts)} since the last success`],
    ['circuit', circuitText(health)],
  ];
}

function circuitText({ openings, open_until }: InspectedWebhook['health']): string {
  if (openings === 0 || open_until === null) return 'closed';
  return Date.parse(open_until) > Date.now() ? `open until ${time(open_until)}` : 'half-open';
}
