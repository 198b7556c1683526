import type { Attempt, Delivery, DeliveryDetail } from '@enterprise-api/sdk';
import type { Colour, Paint } from '../output/paint.ts';
import type { Field } from '../output/printer.ts';
import type { Column } from '../output/table.ts';
import { oneLine } from '../output/text.ts';
import { orDash, time } from './format.ts';

type ShownDelivery = Omit<Delivery, 'subject'>;

const colours: Record<Delivery['status'], Colour> = {
  pending: 'yellow',
  succeeded: 'green',
  failed: 'red',
  canceled: 'dim',
};

export function deliveryColumns(paint: Paint): Column<ShownDelivery>[] {
  return [
    { title: 'ID', text: ({ id }) => id },
    { title: 'EVENT', text: eventOf },
    { title: 'STATUS', text: ({ status }) => status, paint: (cell, { status }) => paint(colours[status], cell) },
    { title: 'ATTEMPTS', text: attempts, align: 'right' },
    { title: 'ANSWER', text: lastAnswer },
    { title: 'CREATED (UTC)', text: ({ created_at }) => time(created_at) },
    { title: 'WEBHOOK', text: ({ webhook_id }) => webhook_id, isElastic: true },
  ];
}

/** Formats a delivery as a line of `deliveries tail`. */
export function deliveryLine(delivery: Delivery, paint: Paint): string {
  const { id, status, created_at } = delivery;
  const state = paint(colours[status], status.padEnd(9));
  const waits = delivery.waiting_for === null ? '' : `  waits for ${delivery.waiting_for}`;
  return (
    oneLine(`${time(created_at)}  `) +
    state +
    oneLine(`  ${eventOf(delivery).padEnd(22)}  ${attempts(delivery)}  ${lastAnswer(delivery)}  ${id}${waits}`)
  );
}

/** The output of `ops` shows no subject. */
export function withoutSubject(delivery: Delivery): ShownDelivery {
  const { subject: _, ...shown } = delivery;
  return shown;
}

export function deliveryFields(delivery: ShownDelivery): Field[] {
  return [
    ['id', delivery.id],
    ['webhook', delivery.webhook_id],
    ['event', `${eventOf(delivery)}  ${delivery.event_id}`],
    ['status', delivery.status],
    ['canceled because', delivery.canceled_reason ?? undefined],
    ['attempts', attempts(delivery)],
    ['last answer', lastAnswer(delivery)],
    ['waits for', delivery.waiting_for ?? undefined],
    ['next attempt', delivery.next_attempt_at === null ? undefined : time(delivery.next_attempt_at)],
    ['created', time(delivery.created_at)],
    ['completed', time(delivery.completed_at)],
  ];
}

export function attemptColumns(paint: Paint): Column<Attempt>[] {
  return [
    { title: '#', text: ({ number }) => String(number), align: 'right' },
    { title: 'STARTED (UTC)', text: ({ started_at }) => time(started_at) },
    { title: 'MS', text: ({ duration_ms }) => String(duration_ms), align: 'right' },
    {
      title: 'ANSWER',
      text: ({ status_code, error }) => [status_code, error].filter((part) => part !== null).join(' '),
      paint: (cell, { error }) => paint(error === null ? 'green' : 'red', cell),
    },
    { title: 'ADDRESS', text: ({ remote_address }) => remote_address ?? '' },
    { title: 'TRIGGER', text: ({ trigger, superseded }) => (superseded ? `${trigger}, superseded` : trigger) },
    {
      title: 'MESSAGE',
      text: ({ error_message, response_body, response_headers }) =>
        error_message ??
        response_body ??
        Object.entries(response_headers ?? {})
          .map((header) => header.join(': '))
          .join(', '),
      isElastic: true,
    },
  ];
}

/** Formats the request's headers. */
export const headerColumns: Column<[name: string, value: string]>[] = [
  { title: 'HEADER', text: ([name]) => name },
  { title: 'VALUE', text: ([, value]) => value, isElastic: true },
];

export const headersOf = ({ request }: DeliveryDetail) => Object.entries(request.headers);

const eventOf = ({ event_type, test }: ShownDelivery) => (test ? `${event_type} (test)` : event_type);

const attempts = ({ attempt_count, max_attempts }: ShownDelivery) => `${attempt_count}/${max_attempts}`;

function lastAnswer({ last_status_code, last_error }: ShownDelivery): string {
  if (last_error === 'http_error' || last_error === null) return orDash(last_status_code);
  return last_error;
}
