import { useState } from 'preact/hooks';
import { useAction, useCall, useQuery } from '../api/query.ts';
import type { AuditEntry, EventTypeEntry, List, Replay, Webhook, WebhookHealth } from '../api/types.ts';
import { count, duration, upTo, visible } from '../format.ts';
import { m } from '../messages.ts';
import { to } from '../router.ts';
import { useReadOnly } from '../session.tsx';
import { Causes } from '../ui/causes.tsx';
import { Form } from '../ui/form.tsx';
import { Load, Page, Panel, ProblemNotice } from '../ui/page.tsx';
import { Facts, Table } from '../ui/table.tsx';
import { Button, Id, State, Text, useNow, When } from '../ui/text.tsx';
import { Paused } from './pause.tsx';
import { Plots } from './plots.tsx';
import { TestPanel } from './test-panel.tsx';
import { WebhookActions } from './webhook-actions.tsx';
import { readWebhook, WebhookFields } from './webhook-fields.tsx';

export function WebhookPage({ id }: { id: string }) {
  const path = `/v1/webhooks/${id}`;
  const webhook = useQuery<Webhook>(path);
  const health = useQuery<WebhookHealth>(`${path}/health`, 5000);
  const readOnly = useReadOnly('webhooks:write');
  const host = webhook.data ? new URL(webhook.data.url).host : '';
  return (
    <Page
      title={host || id}
      above={{ href: to('/webhooks'), name: m.webhooks.title }}
      actions={
        webhook.data &&
        (readOnly ? (
          <span class="muted">{readOnly}</span>
        ) : (
          <WebhookActions webhook={webhook.data} changed={webhook.reload} />
        ))
      }
    >
      <Load query={webhook}>
        {(data) => (
          <>
            <Paused webhook={data} changed={webhook.reload} readOnly={readOnly !== undefined} />
            <Health webhook={data} health={health} />
            <Plots webhookId={id} />
            {!readOnly && <TestPanel webhook={data} />}
            <Settings webhook={data} readOnly={readOnly} changed={webhook.reload} />
            <History id={id} />
            <Replays id={id} />
          </>
        )}
      </Load>
    </Page>
  );
}

function Health({ webhook, health }: { webhook: Webhook; health: ReturnType<typeof useQuery<WebhookHealth>> }) {
  const { id, url } = webhook;
  const now = useNow();
  return (
    <Panel
      title={m.webhooks.state}
      request={`/v1/webhooks/${id}/health`}
      cli={`webhooks health ${id}`}
      actions={
        <>
          <a href={to('/deliveries', { webhook_id: id })}>{m.webhooks.deliveries}</a>
          <a href={to(`/webhooks/${id}/replay`)}>{m.webhooks.replay}</a>
        </>
      }
    >
      <Load query={health}>
        {({ state, since, pending, last_success_at, failing_since, disable_at, circuit, causes }) => (
          <>
            <p class="line">
              <State of={state} names={m.webhooks.states} />
              <code>
                <Text of={url} />
              </code>
            </p>
            {webhook.disabled_reason && (
              <p>
                {m.webhooks.disabledReasons[webhook.disabled_reason] ?? webhook.disabled_reason} <When at={since} />
              </p>
            )}
            {failing_since && (
              <p>
                {m.webhooks.failingSince} <When at={failing_since} />.{' '}
                {disable_at && (
                  <strong>{m.webhooks.disableAt(duration(Math.max(0, new Date(disable_at).getTime() - now)))}</strong>
                )}
              </p>
            )}
            {circuit.state !== 'closed' && <p>{m.webhooks.circuit}</p>}
            <Facts
              rows={[
                [m.webhooks.waiting, upTo(pending)],
                [m.webhooks.lastSuccess, <When at={last_success_at} none={m.webhooks.never} />],
              ]}
            />
            <h3>{m.webhooks.causes}</h3>
            <Causes webhookId={id} causes={causes} />
          </>
        )}
      </Load>
    </Panel>
  );
}

interface SettingsProps {
  webhook: Webhook;
  readOnly: string | undefined;
  changed: () => void;
}

function Settings({ webhook, readOnly, changed }: SettingsProps) {
  const [isEditing, setEditing] = useState(false);
  const call = useCall();
  const types = useQuery<List<EventTypeEntry>>(isEditing ? '/v1/webhooks/event-types?limit=100' : undefined);
  const save = useAction(async (fields: FormData) => {
    await call('PATCH', `/v1/webhooks/${webhook.id}`, readWebhook(fields));
    setEditing(false);
    changed();
  });
  const actions = !readOnly && !isEditing && <Button onClick={() => setEditing(true)}>{m.webhooks.edit}</Button>;
  return (
    <Panel
      title={m.webhooks.details}
      actions={actions}
      request={`/v1/webhooks/${webhook.id}`}
      cli={`webhooks show ${webhook.id}`}
    >
      {isEditing ? (
        <Load query={types}>
          {({ data }) => (
            <Form label={m.webhooks.edit} onSubmit={save.run}>
              <WebhookFields types={data} webhook={webhook} />
              {save.problem && <ProblemNotice problem={save.problem} />}
              <div class="buttons">
                <Button type="submit" kind="primary" disabled={save.busy}>
                  {m.actions.save}
                </Button>
                <Button onClick={() => setEditing(false)}>{m.actions.cancel}</Button>
              </div>
            </Form>
          )}
        </Load>
      ) : (
        <Facts
          rows={[
            ['Id', <Id value={webhook.id} />],
            [m.webhooks.url, <Text of={webhook.url} />],
            [m.webhooks.events, <code>{webhook.events.join(' ')}</code>],
            [m.webhooks.rate, webhook.rate_limit_per_second ?? m.webhooks.noLimit],
            [m.webhooks.inFlight, webhook.max_in_flight ?? m.webhooks.noLimit],
            [m.webhooks.recovers, m.webhooks.recoversBy[webhook.auto_recover ? 'yes' : 'no']],
            [
              m.webhooks.headers,
              webhook.header_names.length > 0 ? <Text of={webhook.header_names.join(', ')} /> : m.webhooks.noHeaders,
            ],
            [m.webhooks.description, <Text of={webhook.description ?? '–'} />],
            [m.webhooks.created, <When at={webhook.created_at} />],
            [m.webhooks.updated, <When at={webhook.updated_at} />],
          ]}
        />
      )}
    </Panel>
  );
}

function History({ id }: { id: string }) {
  const path = `/audit?object_id=${id}&limit=20`;
  const history = useQuery<List<AuditEntry>>(path);
  return (
    <Panel title={m.webhooks.history} request={path}>
      <Load query={history}>
        {({ data }) => (
          <Table
            label={m.webhooks.history}
            rows={data}
            keyOf={(entry) => entry.id}
            empty={m.webhooks.noHistory}
            columns={[
              { name: m.webhooks.updated, cell: ({ created_at }) => <When at={created_at} /> },
              {
                name: m.webhooks.what,
                cell: (entry) => (
                  <>
                    <code>{visible(entry.action)}</code>{' '}
                    <span class="muted">
                      <Text of={changesOf(entry)} />
                    </span>
                  </>
                ),
              },
              { name: m.webhooks.by, cell: ({ actor }) => <code>{visible(actor)}</code> },
            ]}
          />
        )}
      </Load>
    </Panel>
  );
}

/** The changed fields, with their values unless these are secret. */
const changesOf = ({ action, changed_fields, changes }: AuditEntry) =>
  changed_fields
    .map((field) => {
      const change = action.endsWith('.updated') ? changes[field] : undefined;
      return change ? `${field}: ${JSON.stringify(change.from)} → ${JSON.stringify(change.to)}` : field;
    })
    .join(', ');

function Replays({ id }: { id: string }) {
  const path = `/v1/webhooks/replays?webhook_id=${id}&limit=10`;
  const replays = useQuery<List<Replay>>(path, 5000);
  return (
    <Panel title={m.webhooks.replays} request={path} cli={`replays list --webhook ${id}`}>
      <Load query={replays}>
        {({ data }) => (
          <Table
            label={m.webhooks.replays}
            rows={data}
            keyOf={(replay) => replay.id}
            empty={m.webhooks.noReplays}
            columns={[
              {
                name: m.webhooks.state,
                cell: (replay) => (
                  <a href={to(`/webhooks/${id}/replay`, { replay: replay.id })}>
                    <State of={replay.state} names={m.replay.state} />
                  </a>
                ),
              },
              { name: m.webhooks.created, cell: ({ created_at }) => <When at={created_at} /> },
              { name: m.replay.matched, number: true, cell: ({ matched }) => count(matched) },
              { name: m.replay.succeeded, number: true, cell: ({ succeeded }) => count(succeeded) },
              { name: m.replay.failed, number: true, cell: ({ failed }) => count(failed) },
              { name: m.replay.pending, number: true, cell: ({ pending }) => count(pending) },
            ]}
          />
        )}
      </Load>
    </Panel>
  );
}
