import type { ComponentChildren } from 'preact';
import { useQuery } from '../api/query.ts';
import type { List, Statistics, Webhook, WebhookHealthSummary } from '../api/types.ts';
import { upTo } from '../format.ts';
import { m } from '../messages.ts';
import { to } from '../router.ts';
import { useReadOnly } from '../session.tsx';
import { Load, Page, Panel, Unread } from '../ui/page.tsx';
import { Spark } from '../ui/spark.tsx';
import { Table } from '../ui/table.tsx';
import { State, Text, useNow, When } from '../ui/text.tsx';
import { periodOf } from './plots.tsx';

const listPath = '/v1/webhooks?limit=100';
const minute = 60_000;

export function Webhooks() {
  const readOnly = useReadOnly('webhooks:write');
  const webhooks = useQuery<List<Webhook>>(listPath);
  const health = useQuery<List<WebhookHealthSummary>>('/v1/webhooks/health?limit=100', 10_000);
  // Whole hours: the server adds up any other period from minutes.
  const day = useQuery<Statistics>(`${periodOf('24h', useNow(minute)).path}&group_by=webhook`, minute);
  const ofHealth = (id: string, show: (health: WebhookHealthSummary) => ComponentChildren) => {
    const found = health.data?.data.find(({ webhook_id }) => webhook_id === id);
    return found ? show(found) : '–';
  };
  return (
    <Page
      title={m.webhooks.title}
      actions={
        readOnly ? (
          <span class="muted">{readOnly}</span>
        ) : (
          <a class="button primary" href={to('/webhooks/new')}>
            {m.webhooks.add}
          </a>
        )
      }
    >
      <Panel bare title={m.webhooks.title} request={listPath} cli="webhooks list">
        <Unread query={health} />
        <Unread query={day} />
        <Load query={webhooks}>
          {({ data }) => (
            <Table
              label={m.webhooks.title}
              rows={data}
              keyOf={({ id }) => id}
              empty={m.webhooks.none}
              columns={[
                {
                  name: m.webhooks.state,
                  cell: ({ id }) => ofHealth(id, ({ state }) => <State of={state} names={m.webhooks.states} />),
                },
                {
                  name: m.webhooks.url,
                  cell: ({ id, url, description, events }) => (
                    <>
                      <a href={to(`/webhooks/${id}`)}>
                        <Text of={url} />
                      </a>
                      <p class="hint">
                        <Text of={[description, events.join(', ')].filter(Boolean).join(' · ')} />
                      </p>
                    </>
                  ),
                },
                {
                  name: m.webhooks.day,
                  cell: ({ id }) =>
                    day.data && (
                      <Spark
                        entries={day.data.data.filter(({ webhook_id }) => webhook_id === id)}
                        until={day.data.until}
                      />
                    ),
                },
                {
                  name: m.webhooks.waiting,
                  number: true,
                  cell: ({ id }) => ofHealth(id, ({ pending }) => upTo(pending)),
                },
                {
                  name: m.webhooks.lastSuccess,
                  cell: ({ id }) =>
                    ofHealth(id, ({ last_success_at }) => <When at={last_success_at} none={m.webhooks.never} />),
                },
              ]}
            />
          )}
        </Load>
      </Panel>
    </Page>
  );
}
