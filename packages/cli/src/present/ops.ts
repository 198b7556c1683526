import type { InspectedWebhook, QueueCounts, Sending, Stats } from '../internal/types.ts';
import type { Field } from '../output/printer.ts';
import type { Column } from '../output/table.ts';
import { count, orDash, time } from './format.ts';

export function sendingFields({ paused, organization_id, since }: Sending): Field[] {
  return [
    ['sending', paused ? 'paused' : 'running'],
    ['of', organization_id ?? 'everybody'],
    ['since', since === null ? undefined : time(since)],
  ];
}

export function statsFields(stats: Stats): Field[] {
  const capped = (number: number) => count(number) + (number >= stats.counts_stop_at ? '+' : '');
  const { sending, outbox, deliveries, webhooks, partitions, retention, delivery_policy } = stats;
  const lately = (period: NonNullable<Stats['last_hour']>) =>
    `${capped(period.created)} created, of which ${capped(period.succeeded)} succeeded, ${capped(period.pending)} pending, ` +
    `${capped(period.failed)} failed, ${capped(period.canceled)} canceled; ${capped(period.failed_attempts)} failed attempts`;
  return [
    ['at', time(stats.at)],
    ['sending', shown(sending, ({ paused, since }) => (paused ? `paused since ${time(since)}` : 'running'))],
    ['paused organizations', shown(sending, (part) => pausedText(part, capped))],
    ['outbox', shown(outbox, (part) => outboxText(part, capped))],
    ['parked events', shown(outbox, (part) => capped(part.parked_events))],
    [
      'deliveries',
      shown(
        deliveries,
        (part) => `${capped(part.pending)} pending, ${capped(part.due)} due, ${capped(part.overdue)} overdue`,
      ),
    ],
    ['last minute', shown(stats.last_minute, lately)],
    ['last hour', shown(stats.last_hour, lately)],
    [
      'webhooks',
      shown(
        webhooks,
        (part) =>
          `${capped(part.open_circuits)} with an open circuit; disabled: ${capped(part.disabled_failing)} failing, ${capped(part.disabled_gone)} gone`,
      ),
    ],
    ['partitions', shown(partitions, (part) => `${orDash(part.oldest_month)} to ${orDash(part.newest_month)}`)],
    [
      'retention',
      shown(
        retention,
        (part) => `complete at ${time(part.completed_at)}, ${part.kept_months} months kept beyond their time`,
      ),
    ],
    [
      'delivery settings',
      shown(delivery_policy, (part) => `${part.differing_workers} of ${part.workers} workers differ from the API`),
    ],
  ];
}

/** Customers see the values of the API, but the workers apply their own. */
export function policyWarning({ delivery_policy }: Stats): string | null {
  if (delivery_policy === null || delivery_policy.differing_workers === 0) return null;
  return `Some workers have other settings than the API: ${delivery_policy.differing_fields.join(', ')}. Give both the same settings.`;
}

/** Formats a part of the statistics, or says that the part is missing. */
function shown<Part>(part: Part | null, present: (part: Part) => string): string {
  return part === null ? 'did not answer in time' : present(part);
}

function pausedText(sending: NonNullable<Stats['sending']>, capped: (number: number) => string): string {
  const ids = sending.organizations.map(({ organization_id }) => organization_id);
  return [capped(sending.paused_organizations), ...ids].join('  ');
}

function outboxText(
  { events, oldest_seconds }: NonNullable<Stats['outbox']>,
  capped: (number: number) => string,
): string {
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
    ['sending', sending_paused ? 'paused' : 'running'],
    ['failures in a row', count(health.consecutive_failures)],
    ['failed attempts', `${count(health.failed_attempts)} since the last success`],
    ['circuit', circuitText(health)],
  ];
}

function circuitText({ openings, open_until }: InspectedWebhook['health']): string {
  if (openings === 0 || open_until === null) return 'closed';
  return Date.parse(open_until) > Date.now() ? `open until ${time(open_until)}` : 'half-open';
}
