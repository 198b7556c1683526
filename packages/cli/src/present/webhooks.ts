import type { EventTypeEntry, SignatureCheck, Webhook } from '@enterprise-api/sdk';
import type { Paint } from '../output/paint.ts';
import type { Field } from '../output/printer.ts';
import type { Column } from '../output/table.ts';
import { orDash, time } from './format.ts';

export function webhookColumns(paint: Paint): Column<Webhook>[] {
  return [
    { title: 'ID', text: (webhook) => webhook.id },
    { title: 'STATE', text: webhookState, paint: (cell, webhook) => paint(webhook.enabled ? 'green' : 'yellow', cell) },
    { title: 'URL', text: (webhook) => webhook.url, isElastic: true },
    { title: 'EVENTS', text: (webhook) => webhook.events.join(', '), isElastic: true },
    { title: 'DESCRIPTION', text: (webhook) => webhook.description ?? '', isElastic: true },
  ];
}

export function webhookFields(webhook: Webhook): Field[] {
  const { paused, rate_limit_per_second, max_in_flight, auto_recover, header_names } = webhook;
  return [
    ['id', webhook.id],
    ['url', webhook.url],
    ['events', webhook.events.join(', ')],
    ['description', orDash(webhook.description)],
    ['state', webhookState(webhook)],
    ['failing since', webhook.failing_since === null ? undefined : time(webhook.failing_since)],
    [
      'disabled at',
      webhook.disable_at === null ? undefined : `${time(webhook.disable_at)}, unless a delivery succeeds before`,
    ],
    ['paused', paused === null ? undefined : pauseText(paused)],
    ['attempts per second', rate_limit_per_second === null ? undefined : `at most ${rate_limit_per_second}`],
    ['attempts at a time', max_in_flight === null ? undefined : `at most ${max_in_flight}`],
    ['recovers', auto_recover ? 'once a test succeeds after it was disabled as failing' : undefined],
    ['headers', header_names.length === 0 ? undefined : header_names.join(', ')],
    [
      'previous secret',
      webhook.previous_secret_expires_at ? `in use until ${time(webhook.previous_secret_expires_at)}` : undefined,
    ],
    ['created', time(webhook.created_at)],
    ['updated', time(webhook.updated_at)],
  ];
}

function pauseText({ resume_at, reason }: NonNullable<Webhook['paused']>): string {
  return `until ${time(resume_at)}${reason === null ? '' : `: ${reason}`}`;
}

function webhookState({ enabled, disabled_reason, failing_since, paused }: Webhook): string {
  if (paused !== null) return 'paused';
  if (enabled) return failing_since === null ? 'enabled' : 'failing';
  return `disabled (${disabled_reason})`;
}

export function signatureCheckFields({ valid, delivery_id, checks, computed }: SignatureCheck): Field[] {
  return [
    ['valid', valid ? 'yes' : 'no'],
    ['delivery', orDash(delivery_id)],
    ...checks.map(
      ({ header, cause, message, webhook_id }): Field => [
        header,
        `${cause}: ${message}${webhook_id === undefined ? '' : ` ${webhook_id}`}`,
      ],
    ),
    ['computed', computed ?? undefined],
  ];
}

export const eventTypeColumns: Column<EventTypeEntry>[] = [
  { title: 'TYPE', text: ({ type }) => type },
  { title: 'DESCRIPTION', text: ({ description }) => description, isElastic: true },
];
