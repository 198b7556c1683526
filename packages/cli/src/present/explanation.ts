import type { ExplainedWebhook, Explanation } from '@enterprise-api/sdk';
import type { Printer } from '../output/printer.ts';
import type { Column } from '../output/table.ts';
import { time } from './format.ts';

const columns: Column<ExplainedWebhook>[] = [
  { title: 'WEBHOOK', text: ({ webhook_id }) => webhook_id },
  { title: 'OUTCOME', text: ({ outcome, certain }) => (certain ? outcome : `${outcome}?`) },
  { title: 'WHY', text: ({ message }) => message, isElastic: true },
];

export function showExplanation(printer: Printer, explanation: Explanation): void {
  const { event_id, event_type, created_at, fanned_out_at, data } = explanation;
  printer.object(explanation, [
    ['event', event_id ?? undefined],
    ['type', event_type],
    ['created', event_id === null ? undefined : time(created_at)],
    ['fanned out', event_id === null ? undefined : time(fanned_out_at)],
  ]);
  printer.section('Webhooks', data, columns);
  if (data.some(({ certain }) => !certain))
    printer.note('"?": the webhook was changed at about that time, so the reason may be another one.');
}
