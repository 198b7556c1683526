import type { WebhookHealth, WebhookHealthSummary, WebhookStatistics } from '@enterprise-api/sdk';
import type { Colour, Paint } from '../output/paint.ts';
import type { Field, Printer } from '../output/printer.ts';
import type { Column } from '../output/table.ts';
import { count, orDash, time } from './format.ts';

const colours: Record<WebhookHealthSummary['state'], Colour> = {
  disabled: 'dim',
  paused: 'yellow',
  failing: 'red',
  degraded: 'yellow',
  idle: 'dim',
  healthy: 'green',
};

export function healthColumns(paint: Paint): Column<WebhookHealthSummary>[] {
  return [
    { title: 'WEBHOOK', text: ({ webhook_id }) => webhook_id },
    { title: 'STATE', text: ({ state }) => state, paint: (cell, { state }) => paint(colours[state], cell) },
    { title: 'SINCE (UTC)', text: ({ since }) => time(since) },
    { title: 'PENDING', text: ({ pending }) => count(pending), align: 'right' },
    { title: 'CIRCUIT', text: ({ circuit }) => circuit.state },
    { title: 'LAST SUCCESS (UTC)', text: ({ last_success_at }) => time(last_success_at) },
    { title: 'LAST FAILURE (UTC)', text: ({ last_failure_at }) => time(last_failure_at) },
  ];
}

export function healthFields(health: WebhookHealth): Field[] {
  const { since, circuit, failing_since, disable_at } = health;
  const until = circuit.next_attempt_at === null ? '' : ` until ${time(circuit.next_attempt_at)}`;
  return [
    ['webhook', health.webhook_id],
    ['state', `${health.state}${since === null ? '' : ` since ${time(since)}`}`],
    ['last success', time(health.last_success_at)],
    ['last failure', time(health.last_failure_at)],
    ['failing since', failing_since === null ? undefined : time(failing_since)],
    ['disabled at', disable_at === null ? undefined : `${time(disable_at)}, unless a delivery succeeds before`],
    ['circuit', `${circuit.state}${until}`],
    ...pendingFields(health),
  ];
}

export function pendingFields({ pending, oldest_pending_at, oldest_waiting_for }: WebhookHealth): Field[] {
  return [
    ['pending', count(pending)],
    ['oldest pending', pending === 0 ? undefined : time(oldest_pending_at)],
    ['it waits for', oldest_waiting_for ?? undefined],
  ];
}

export function showCauses(printer: Printer, { causes }: WebhookHealth): void {
  if (causes.length > 0) printer.section('causes of the last 24 hours', causes, causeColumns);
}

const causeColumns: Column<WebhookHealth['causes'][number]>[] = [
  { title: 'ATTEMPTS', text: (cause) => count(cause.count), align: 'right' },
  { title: 'ERROR', text: ({ error }) => error },
  { title: 'STATUS', text: ({ status_code }) => orDash(status_code) },
  { title: 'LAST (UTC)', text: ({ last_at }) => time(last_at) },
  { title: 'DELIVERY', text: ({ delivery_id }) => delivery_id },
  { title: 'WHAT TO DO', text: ({ hint }) => hint, isElastic: true },
];

type Bucket = WebhookStatistics['data'][number];

export function statisticsColumns({ data }: WebhookStatistics): Column<Bucket>[] {
  const number = (title: string, read: (bucket: Bucket) => number | null): Column<Bucket> => ({
    title,
    text: (bucket) => orDash(read(bucket)),
    align: 'right',
  });
  return [
    { title: 'START (UTC)', text: ({ start }) => time(start).slice(0, 16) },
    ...groupColumns(data),
    number('ATTEMPTS', ({ attempts }) => attempts),
    number('FAILED', ({ failed }) => failed),
    number('P50 MS', ({ duration_ms }) => duration_ms.p50),
    number('P95', ({ duration_ms }) => duration_ms.p95),
    number('P99', ({ duration_ms }) => duration_ms.p99),
    number('LAG P50 MS', ({ lag_ms }) => lag_ms.p50),
    number('P95', ({ lag_ms }) => lag_ms.p95),
    number('P99', ({ lag_ms }) => lag_ms.p99),
  ];
}

/** The field that divides the buckets, if any. */
function groupColumns([first]: WebhookStatistics['data']): Column<Bucket>[] {
  if (first?.webhook_id !== undefined) return [{ title: 'WEBHOOK', text: ({ webhook_id }) => orDash(webhook_id) }];
  if (first?.event_type !== undefined) return [{ title: 'TYPE', text: ({ event_type }) => orDash(event_type) }];
  return first?.error === undefined ? [] : [{ title: 'ERROR', text: ({ error }) => orDash(error) }];
}

/** Prints the period's sums in one line. */
export function statisticsLine({ totals, since, until }: WebhookStatistics): string {
  const parts = [`${count(totals.attempts)} attempts`, `${count(totals.failed)} failed`];
  const { p50, p99 } = totals.duration_ms;
  if (p50 !== null) parts.push(`p50 ${p50} ms`, `p99 ${p99} ms`);
  return `${time(since)} to ${time(until)}: ${parts.join(', ')}`;
}
