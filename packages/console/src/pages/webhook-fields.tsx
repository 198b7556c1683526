import { useState } from 'preact/hooks';
import type { EventTypeEntry, Webhook } from '../api/types.ts';
import { m } from '../messages.ts';
import { Choices, Field, textOf, textsOf } from '../ui/form.tsx';
import { HeaderFields, type HeaderRow, readHeaders } from './header-fields.tsx';

const wildcards = ['consultation.*', 'batch.*', '*'];

/** The fields of a webhook. */
export function WebhookFields({ types, webhook }: { types: readonly EventTypeEntry[]; webhook?: Webhook }) {
  const [headers, setHeaders] = useState<HeaderRow[]>();
  const headerNames = webhook?.header_names ?? [];
  const names = types.map(({ type }) => type).filter((type) => type !== 'webhook.test');
  return (
    <>
      <Field
        label={m.webhooks.url}
        name="url"
        type="url"
        required
        maxLength={2048}
        placeholder="https://"
        hint={m.webhooks.urlHint}
        defaultValue={webhook?.url ?? ''}
      />
      <Choices
        legend={m.webhooks.events}
        hint={m.webhooks.eventsHint}
        name="events"
        options={[...wildcards, ...names]}
        chosen={webhook?.events ?? ['*']}
      />
      <Field
        label={m.webhooks.description}
        name="description"
        maxLength={500}
        hint={m.webhooks.descriptionHint}
        defaultValue={webhook?.description ?? ''}
      />
      <Field
        label={m.webhooks.rate}
        name="rate"
        type="number"
        min={1}
        max={1000}
        hint={m.webhooks.limitHint}
        defaultValue={webhook?.rate_limit_per_second ?? ''}
      />
      <Field
        label={m.webhooks.inFlight}
        name="in_flight"
        type="number"
        min={1}
        max={50}
        hint={m.webhooks.limitHint}
        defaultValue={webhook?.max_in_flight ?? ''}
      />
      <HeaderFields names={headerNames} rows={headers} setRows={setHeaders} />
      {(headers ?? headerNames).length === 0 && (
        <Choices
          legend={m.webhooks.recovers}
          name="auto_recover"
          options={['yes']}
          names={m.webhooks.recoversBy}
          chosen={webhook?.auto_recover ? ['yes'] : []}
        />
      )}
    </>
  );
}

export const readWebhook = (fields: FormData) => ({
  url: textOf(fields, 'url'),
  events: textsOf(fields, 'events'),
  description: textOf(fields, 'description') || null,
  rate_limit_per_second: Number(textOf(fields, 'rate')) || null,
  max_in_flight: Number(textOf(fields, 'in_flight')) || null,
  auto_recover: fields.has('auto_recover'),
  headers: readHeaders(fields),
});
