import type { Delivery } from '@enterprise-api/shared/contracts';
import type { Arrival } from '../receiver.ts';
import { type Column, renderTable } from './table.ts';

/** The addresses and secrets of a run, for people and scripts. Written to demo.json. */
export interface DemoFacts {
  organization_id: string;
  api_key: string;
  webhook_id: string;
  api_url: string;
  internal_url: string;
  internal_secret: string;
  events_secret: string;
  database_url: string;
  worker_url: string;
  receiver_url: string;
  ca_file: string;
}

const columns: Column<Delivery>[] = [
  { title: 'event', text: (delivery) => delivery.event_type },
  { title: 'status', text: (delivery) => delivery.status },
  { title: 'attempts', text: (delivery) => String(delivery.attempt_count), align: 'right' },
  { title: 'answer', text: (delivery) => delivery.last_error ?? String(delivery.last_status_code ?? '-') },
  { title: 'ms', text: (delivery) => String(delivery.last_duration_ms ?? '-'), align: 'right' },
  { title: 'created (UTC)', text: (delivery) => delivery.created_at.slice(0, 19).replace('T', ' ') },
  { title: 'delivery', text: (delivery) => delivery.id },
];

/** The delivery history as a table, newest first. */
export function historyTable(deliveries: readonly Delivery[]): string[] {
  return renderTable(columns, deliveries);
}

/** The line that the terminal shows for a delivery. */
export function arrivalLine(arrival: Arrival): string {
  const verdict = arrival.verified ? 'signature verified' : 'SIGNATURE DOES NOT MATCH';
  const details = `attempt ${arrival.attempt}, ${arrival.bytes} bytes`;
  return `${arrival.eventType.padEnd(22)}  ${verdict}  ${details}  ${arrival.eventId}`;
}

/**
 * The addresses of the run, and curl commands to paste into another terminal.
 *
 * @param folder where data and logs are kept
 */
export function closingWords(facts: DemoFacts, folder: string): string[] {
  const key = `-H 'Authorization: Bearer ${facts.api_key}'`;
  const secret = `-H 'Authorization: Bearer ${facts.events_secret}'`;
  const json = `-H 'Content-Type: application/json'`;
  const event = JSON.stringify({
    organization_id: facts.organization_id,
    type: 'consultation.completed',
    data: { consultation_id: 'con_from_curl' },
  });
  return [
    `API             ${facts.api_url}/v1`,
    `reference       ${facts.api_url}/docs`,
    `internal        ${facts.internal_url}/internal/v1   (metrics: ${facts.internal_url}/metrics)`,
    `worker          ${facts.worker_url}/readyz   (metrics: ${facts.worker_url}/metrics)`,
    `demo receiver   ${facts.receiver_url}`,
    `data, logs      ${folder}`,
    '',
    'Ask for a consultation; the line of its delivery appears in this terminal when it ends:',
    `  curl -s ${key} ${json} -d '${JSON.stringify({ question: 'Is it plausible?' })}' ${facts.api_url}/v1/consultations`,
    'Show what this key may do:',
    `  curl -s ${key} ${facts.api_url}/v1/me`,
    'List the webhooks and the newest deliveries:',
    `  curl -s ${key} ${facts.api_url}/v1/webhooks`,
    `  curl -s ${key} '${facts.api_url}/v1/webhooks/deliveries?limit=5'`,
    'The same on the command line, which also forwards events to a program of yours (packages/cli/README.md):',
    `  export PATH=$PWD/node_modules/.bin:$PATH ENTERPRISE_API_URL=${facts.api_url} ENTERPRISE_API_KEY=${facts.api_key}`,
    '  enterprise-api deliveries list',
    '  enterprise-api console   # a link to the console, which works once',
    '  enterprise-api listen --forward-to http://localhost:4000/hooks',
    'Emit an event as an internal service does by HTTP:',
    `  curl -s ${secret} ${json} -d '${event}' ${facts.internal_url}/internal/v1/events`,
  ];
}
