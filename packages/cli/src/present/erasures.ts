import type { Erasure } from '../internal/types.ts';
import type { Field } from '../output/printer.ts';
import type { Column } from '../output/table.ts';
import { count, orDash, time } from './format.ts';

export const erasureColumns: Column<Erasure>[] = [
  { title: 'ID', text: ({ id }) => orDash(id) },
  { title: 'ORGANIZATION', text: ({ organization_id }) => organization_id },
  { title: 'SELECTION', text: ({ selection }) => selection.kind },
  { title: 'STATE', text: ({ state }) => state },
  { title: 'EVENTS', text: ({ counts }) => count(counts.events) },
  { title: 'REASON', text: ({ reason }) => orDash(reason), isElastic: true },
  { title: 'REQUESTED (UTC)', text: ({ requested_at }) => time(requested_at) },
];

export function erasureFields(erasure: Erasure): Field[] {
  const { counts, selection } = erasure;
  return [
    ['id', erasure.id ?? 'none: a dry run'],
    ['organization', erasure.organization_id],
    ['selection', selection.kind],
    ['sha256', selection.sha256],
    ['state', erasure.state],
    ['reason', orDash(erasure.reason)],
    ['requested', time(erasure.requested_at)],
    ['completed', time(erasure.completed_at)],
    ['events', count(counts.events)],
    ['bodies', count(counts.bodies)],
    ['responses', count(counts.responses)],
    ['deliveries canceled', count(counts.deliveries_canceled)],
    ['events in the queue', count(counts.queued)],
  ];
}
