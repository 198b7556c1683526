import type { Replay, ReplayPreview } from '@enterprise-api/sdk';
import type { Field, Printer } from '../output/printer.ts';
import type { Column } from '../output/table.ts';
import { count, orDash, time } from './format.ts';

/** Says what is sent again, or would be, and whether there is more. */
export function showReplay(printer: Printer, replay: Replay | ReplayPreview): void {
  printer.object(replay, replay.object === 'replay' ? replayFields(replay) : previewFields(replay));
  if (replay.has_more) printer.note('More deliveries match than one replay takes. Run it again for the others.');
}

export const replayColumns: Column<Replay>[] = [
  { title: 'ID', text: ({ id }) => id },
  { title: 'STATE', text: ({ state }) => state },
  { title: 'MATCHED', text: ({ matched }) => count(matched), align: 'right' },
  { title: 'PENDING', text: ({ pending }) => count(pending), align: 'right' },
  { title: 'SUCCEEDED', text: ({ succeeded }) => count(succeeded), align: 'right' },
  { title: 'FAILED', text: ({ failed }) => count(failed), align: 'right' },
  { title: 'CANCELED', text: ({ canceled }) => count(canceled), align: 'right' },
  { title: 'CREATED (UTC)', text: ({ created_at }) => time(created_at) },
  { title: 'WEBHOOK', text: ({ webhook_id }) => webhook_id, isElastic: true },
];

export function replayFields(replay: Replay): Field[] {
  return [
    ['id', replay.id],
    ['webhook', replay.webhook_id],
    ['state', replay.state],
    ['deliveries', `${count(replay.matched)} are sent again`],
    ['pending', count(replay.pending)],
    ['succeeded', count(replay.succeeded)],
    ['failed', count(replay.failed)],
    ['canceled', count(replay.canceled)],
    ['rate', replay.rate_per_second === null ? undefined : `${replay.rate_per_second} per second`],
    ['created', time(replay.created_at)],
    ['completed', time(replay.completed_at)],
  ];
}

function previewFields({ matched, by_status, by_event_type, sample, estimated_seconds }: ReplayPreview): Field[] {
  const listed = (counts: Record<string, number>) =>
    orDash(
      Object.entries(counts)
        .map(([name, number]) => `${count(number)} ${name}`)
        .join(', '),
    );
  return [
    ['deliveries', `${count(matched)} would be sent`],
    ['by status', listed(by_status)],
    ['by type', listed(by_event_type)],
    ['events', orDash(sample.join(' '))],
    ['seconds', estimated_seconds === null ? undefined : count(estimated_seconds)],
  ];
}
