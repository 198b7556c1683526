import { useQuery } from '../api/query.ts';
import type { Event, ExplainedWebhook, Explanation, List, Webhook } from '../api/types.ts';
import { pretty } from '../format.ts';
import { m } from '../messages.ts';
import { to } from '../router.ts';
import { useHidesBodies, useSession } from '../session.tsx';
import { Load, Page, Panel } from '../ui/page.tsx';
import { Facts, Table } from '../ui/table.tsx';
import { Code, Id, State, Text, When } from '../ui/text.tsx';

export function EventPage({ id }: { id: string }) {
  const path = `/v1/events/${id}`;
  const event = useQuery<Event>(path);
  return (
    <Page
      title={event.data?.type ?? m.events.one}
      name={m.events.one}
      above={{ href: to('/events'), name: m.events.title }}
      actions={<a href={to('/deliveries', { event_id: id })}>{m.deliveries.title}</a>}
    >
      <Explained id={id} />
      <Panel title={m.events.one} request={path} cli={`events show ${id}`}>
        <Load query={event}>
          {(data) => (
            <>
              <Facts
                rows={[
                  ['Id', <Id value={data.id} />],
                  [m.events.subject, <Text of={data.subject ?? '–'} />],
                  [m.events.created, <When at={data.created_at} />],
                  [m.events.occurred, <When at={data.occurred_at} />],
                ]}
              />
              {data.data === null ? (
                <p class="empty">
                  <WhyNoData event={data} />
                </p>
              ) : (
                <Code label={m.events.data}>{pretty(JSON.stringify(data.data))}</Code>
              )}
            </>
          )}
        </Load>
      </Panel>
    </Page>
  );
}

/** Data can be absent for four reasons. */
export function WhyNoData({ event: { erased_at, created_at } }: { event: Pick<Event, 'erased_at' | 'created_at'> }) {
  const hidesBodies = useHidesBodies();
  const retention = useSession().organization.body_retention_seconds;
  if (erased_at)
    return (
      <>
        {m.events.erased} <When at={erased_at} />
      </>
    );
  if (hidesBodies) return m.events.hidden;
  const isPast = retention != null && Date.now() - new Date(created_at).getTime() > retention * 1000;
  return isPast ? m.events.retention : m.events.unavailable;
}

/** The result of the event at every webhook, and why. */
function Explained({ id }: { id: string }) {
  const path = `/v1/events/${id}/explain`;
  const explanation = useQuery<Explanation>(path, 10_000);
  const webhooks = useQuery<List<Webhook>>('/v1/webhooks?limit=100');
  const urlOf = (webhookId: string) =>
    webhooks.data?.data.find((webhook) => webhook.id === webhookId)?.url ?? webhookId;
  return (
    <Panel title={m.events.explain} request={path} cli={`events explain ${id}`}>
      <Load query={explanation}>
        {({ data }) => (
          <Table<ExplainedWebhook>
            label={m.events.explain}
            rows={data}
            keyOf={({ webhook_id }) => webhook_id}
            empty={m.events.noWebhooks}
            columns={[
              { name: m.events.outcome, cell: ({ outcome }) => <State of={outcome} names={m.events.outcomes} /> },
              {
                name: m.events.webhook,
                cell: ({ webhook_id }) => (
                  <a class="quiet" href={to(`/webhooks/${webhook_id}`)}>
                    <Text of={urlOf(webhook_id).replace('https://', '')} />
                  </a>
                ),
              },
              {
                name: m.events.why,
                cell: ({ message, certain, next_attempt_at }) => (
                  <>
                    <Text of={message} />
                    {!certain && <p class="hint">{m.events.uncertain}</p>}
                    {next_attempt_at && (
                      <p class="hint">
                        {m.deliveries.next} <When at={next_attempt_at} />
                      </p>
                    )}
                  </>
                ),
              },
              {
                name: m.deliveries.one,
                cell: ({ delivery_id }) =>
                  delivery_id ? <a href={to(`/deliveries/${delivery_id}`)}>{m.webhooks.testMore}</a> : '–',
              },
            ]}
          />
        )}
      </Load>
    </Panel>
  );
}
