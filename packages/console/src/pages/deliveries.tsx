import { useQuery } from '../api/query.ts';
import type { Delivery, List, ScannedList, Webhook } from '../api/types.ts';
import { commandOf } from '../curl.ts';
import { count } from '../format.ts';
import { m } from '../messages.ts';
import { to, usePlace } from '../router.ts';
import { errorName } from '../ui/causes.tsx';
import { Choices, Field, Select } from '../ui/form.tsx';
import { anyOption, Filters, Jump, listPath, Pager, PeriodFields, TypeSelect } from '../ui/list.tsx';
import { Load, Page, Panel } from '../ui/page.tsx';
import { Table } from '../ui/table.tsx';
import { State, Text, When } from '../ui/text.tsx';

const more = ['id', 'last_status_code', 'last_error'];
const names = ['webhook_id', 'event_id', 'status', 'event_type', 'subject', 'since', 'until', ...more];

export function Deliveries() {
  const { query } = usePlace();
  const path = listPath('/v1/webhooks/deliveries', query, names);
  const deliveries = useQuery<ScannedList<Delivery>>(path);
  const webhooks = useQuery<List<Webhook>>('/v1/webhooks?limit=100');
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
            options={[anyOption, ...(webhooks.data?.data ?? []).map(({ id, url }) => [id, url] as const)]}
          />
          <Select
            label={m.deliveries.status}
            name="status"
            value={value('status')}
            options={[anyOption, ...Object.entries(m.deliveries.statuses)]}
          />
          <TypeSelect label={m.deliveries.type} name="event_type" />
          <Field label={m.deliveries.subject} name="subject" defaultValue={value('subject')} />
          <Field label={m.deliveries.event} name="event_id" defaultValue={value('event_id')} placeholder="evt_…" />
          <PeriodFields />
          <details open={more.some((name) => query.has(name))}>
            <summary>{m.deliveries.more}</summary>
            <div class="filters">
              <Field
                label={m.deliveries.lastStatus}
                name="last_status_code"
                placeholder={m.deliveries.lastStatusLike}
                defaultValue={value('last_status_code')}
              />
              <Field
                label={m.deliveries.ids}
                name="id"
                placeholder="dlv_… dlv_…"
                defaultValue={query.getAll('id').join(' ')}
              />
            </div>
            <Choices
              legend={m.deliveries.lastError}
              name="last_error"
              options={Object.keys(m.errors)}
              names={m.errors}
              chosen={query.getAll('last_error')}
            />
          </details>
        </Filters>
        <Load query={deliveries}>
          {(list) => (
            <>
              <DeliveryTable
                rows={list.data}
                urlOf={urlOf}
                empty={list.has_more || query.has('cursor') ? m.search.none : m.deliveries.none}
              />
              <Pager of={deliveries} />
            </>
          )}
        </Load>
      </Panel>
    </Page>
  );
}

interface DeliveryTableProps {
  rows: readonly Delivery[];
  urlOf: (id: string) => string;
  empty?: string;
}

export function DeliveryTable({ rows, urlOf, empty = m.deliveries.none }: DeliveryTableProps) {
  return (
    <Table
      label={m.deliveries.title}
      rows={rows}
      keyOf={({ id }) => id}
      empty={empty}
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

const options = {
  webhook_id: 'webhook',
  event_id: 'event',
  status: 'status',
  event_type: 'type',
  last_status_code: 'last-status',
  last_error: 'last-error',
  since: 'since',
  until: 'until',
};

/** The command for this list. It takes no ids, and would take a subject from standard input. */
function cliOf(query: URLSearchParams): string | undefined {
  if (query.has('id') || query.has('subject')) return undefined;
  return commandOf('deliveries list', options, (name) => query.getAll(name));
}
