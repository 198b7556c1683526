import { useQuery } from '../api/query.ts';
import type { Delivery, EventTypeEntry, List, ScannedList, Webhook } from '../api/types.ts';
import { shellWord } from '../curl.ts';
import { count } from '../format.ts';
import { m } from '../messages.ts';
import { to, usePlace } from '../router.ts';
import { errorName } from '../ui/causes.tsx';
import { Field, Select } from '../ui/form.tsx';
import { Filters, Jump, listPath, Pager, PeriodFields } from '../ui/list.tsx';
import { Load, Page, Panel } from '../ui/page.tsx';
import { Table } from '../ui/table.tsx';
import { State, Text, When } from '../ui/text.tsx';

const names = ['webhook_id', 'event_id', 'status', 'event_type', 'subject', 'since', 'until'];

export function Deliveries() {
  const { query } = usePlace();
  const path = listPath('/v1/webhooks/deliveries', query, names);
  const deliveries = useQuery<ScannedList<Delivery>>(path);
  const webhooks = useQuery<List<Webhook>>('/v1/webhooks?limit=100');
  const types = useQuery<List<EventTypeEntry>>('/v1/webhooks/event-types?limit=100');
  const value = (name: string) => query.get(name) ?? '';
  const urlOf = (id: string) => webhooks.data?.data.find((webhook) => webhook.id === id)?.url ?? id;
  return (
    <Page title={m.deliveries.title} actions={<Jump />}>
      <Panel bare title={m.deliveries.title} request={path} cli={cliOf(query)}>
        <Filters names={names}>
          <Select
            label={m.deliveries.webhook}
            name="webhook_id"
            value={value('webhook_id')}
            options={[['', m.deliveries.any], ...(webhooks.data?.data ?? []).map(({ id, url }) => [id, url] as const)]}
          />
          <Select
            label={m.deliveries.status}
            name="status"
            value={value('status')}
            options={[['', m.deliveries.any], ...Object.entries(m.deliveries.statuses)]}
          />
          <Select
            label={m.deliveries.type}
            name="event_type"
            value={value('event_type')}
            options={[['', m.deliveries.any], ...(types.data?.data ?? []).map(({ type }) => [type, type] as const)]}
          />
          <Field label={m.deliveries.subject} name="subject" defaultValue={value('subject')} />
          <Field label={m.deliveries.event} name="event_id" defaultValue={value('event_id')} placeholder="evt_…" />
          <PeriodFields />
        </Filters>
        <Load query={deliveries}>
          {({ data, next_cursor }) => (
            <>
              <DeliveryTable rows={data} urlOf={urlOf} />
              <Pager next={next_cursor} />
            </>
          )}
        </Load>
      </Panel>
    </Page>
  );
}

export function DeliveryTable({ rows, urlOf }: { rows: readonly Delivery[]; urlOf: (id: string) => string }) {
  return (
    <Table
      label={m.deliveries.title}
      rows={rows}
      keyOf={({ id }) => id}
      empty={m.deliveries.none}
      columns={[
        { name: m.deliveries.status, cell: ({ status }) => <State of={status} names={m.deliveries.statuses} /> },
        {
          name: m.deliveries.event,
          cell: ({ id, event_type, subject, test }) => (
            <>
              <a href={to(`/deliveries/${id}`)}>{event_type}</a>
              <p class="hint">{test ? m.deliveries.test : <Text of={subject ?? ''} />}</p>
            </>
          ),
        },
        {
          name: m.deliveries.webhook,
          cell: ({ webhook_id }) => (
            <a class="quiet" href={to(`/webhooks/${webhook_id}`)}>
              <Text of={urlOf(webhook_id).replace('https://', '')} />
            </a>
          ),
        },
        {
          name: m.deliveries.last,
          cell: ({ last_error, last_status_code, last_duration_ms, waiting_for, status }) => (
            <>
              <span>
                {errorName(last_error, last_status_code) || '–'}{' '}
                {last_duration_ms !== null && <span class="muted">{count(last_duration_ms)} ms</span>}
              </span>
              {status === 'pending' && waiting_for && (
                <p class="hint">{m.deliveries.waitsFor[waiting_for] ?? waiting_for}</p>
              )}
            </>
          ),
        },
        {
          name: m.deliveries.attempts,
          number: true,
          cell: ({ attempt_count, max_attempts }) => `${attempt_count} / ${max_attempts}`,
        },
        { name: m.deliveries.created, cell: ({ created_at }) => <When at={created_at} /> },
      ]}
    />
  );
}

const options = { webhook_id: 'webhook', event_id: 'event', status: 'status', event_type: 'type', since: 'since' };

function cliOf(query: URLSearchParams): string {
  const given = Object.entries({ ...options, until: 'until' }).flatMap(([name, option]) => {
    const value = query.getAll(name).join(',');
    return value === '' ? [] : [` --${option} ${shellWord(value)}`];
  });
  return `deliveries list${given.join('')}`;
}
