import { useEffect, useMemo, useState } from 'preact/hooks';
import { type Action, useAction, useCall, useQuery } from '../api/query.ts';
import type { Replay, ReplayPreview } from '../api/types.ts';
import { commandOf } from '../curl.ts';
import { count, duration, plural } from '../format.ts';
import { m } from '../messages.ts';
import { setQuery, to, usePlace } from '../router.ts';
import { useReadOnly } from '../session.tsx';
import { Choices, Confirm, Field, Select } from '../ui/form.tsx';
import { anyOption, Filters, PeriodFields, TypeSelect } from '../ui/list.tsx';
import { Load, Page, Panel, ProblemNotice } from '../ui/page.tsx';
import { Facts } from '../ui/table.tsx';
import { Button, State, When } from '../ui/text.tsx';

const names = ['since', 'until', 'status', 'event_type', 'error', 'status_code', 'rate_per_second'];

/** Sends deliveries again: a filter, a preview, and then the progress. */
export function ReplayPage({ id }: { id: string }) {
  const { query } = usePlace();
  const readOnly = useReadOnly('webhooks:write');
  // Nothing else from the address may become part of a request's path or of a command.
  const running = /^rpl_\w+$/.exec(query.get('replay') ?? '')?.[0];
  return (
    <Page title={m.replay.title} above={{ href: to(`/webhooks/${id}`), name: m.webhooks.webhook }}>
      {readOnly && <p class="notice">{readOnly}</p>}
      {running !== undefined && <Progress key={running} id={running} readOnly={readOnly !== undefined} />}
      {running === undefined && !readOnly && <Choose webhookId={id} />}
    </Page>
  );
}

function Choose({ webhookId }: { webhookId: string }) {
  const { query } = usePlace();
  const [yesterday] = useState(() => new Date(Math.floor(Date.now() / 60_000) * 60_000 - 86_400_000).toISOString());
  const request = useMemo(() => requestOf(query, yesterday), [query, yesterday]);
  const call = useCall();
  const path = `/v1/webhooks/${webhookId}/replay`;
  const [preview, setPreview] = useState<ReplayPreview>();
  const look = useAction(async () => {
    setPreview(undefined);
    setPreview(await call<ReplayPreview>('POST', path, { ...request, dry_run: true }));
  });
  const send = useAction(async () => {
    const { id } = await call<Replay>('POST', path, request);
    setQuery({ replay: id });
  });
  const key = JSON.stringify(request);
  useEffect(() => look.run(), [key, look.run]);
  const value = (name: string) => query.get(name) ?? '';
  const cli = commandOf(`webhooks replay ${webhookId}`, options, (name) => request[name as keyof typeof request]);
  return (
    <Panel bare title={m.replay.title} request={`POST ${path}`} body={request} cli={cli}>
      <p class="muted">{m.replay.text}</p>
      <Filters names={names}>
        <PeriodFields since={yesterday} />
        <Choices
          legend={m.replay.status}
          hint={m.replay.statusHint}
          name="status"
          options={Object.keys(m.replay.statuses)}
          names={m.replay.statuses}
          chosen={query.getAll('status')}
        />
        <TypeSelect label={m.deliveries.type} name="event_type" />
        <Select
          label={m.replay.error}
          name="error"
          value={value('error')}
          options={[anyOption, ...Object.entries(m.errors)]}
        />
        <Field
          label={m.replay.code}
          name="status_code"
          type="number"
          min={100}
          max={599}
          defaultValue={value('status_code')}
        />
        <Field
          label={m.replay.rate}
          name="rate_per_second"
          type="number"
          min={1}
          max={1000}
          placeholder={m.webhooks.noLimit}
          defaultValue={value('rate_per_second')}
        />
      </Filters>
      {look.problem && <ProblemNotice problem={look.problem} retry={look.run} />}
      {send.problem && <ProblemNotice problem={send.problem} />}
      <div aria-live="polite">
        {preview ? <Preview preview={preview} send={send} /> : look.busy && <p class="loading">{m.states.loading}</p>}
      </div>
    </Panel>
  );
}

function Preview({ preview, send }: { preview: ReplayPreview; send: Action<[]> }) {
  const { matched, has_more, by_status, by_event_type, estimated_seconds } = preview;
  const deliveries = plural(matched, 'delivery', 'deliveries');
  if (matched === 0) return <p class="empty">{m.replay.nothing}</p>;
  const list = (counts: Record<string, number>) =>
    Object.entries(counts)
      .map(([name, number]) => `${m.replay.statuses[name] ?? name} ${count(number)}`)
      .join(', ');
  return (
    <div class="notice">
      <strong>{m.replay.matches(deliveries)}</strong>
      {has_more && <p>{m.replay.more}</p>}
      <p class="muted">{[list(by_status), list(by_event_type)].filter(Boolean).join(' · ')}</p>
      {estimated_seconds !== null && <p>{m.replay.takes(duration(estimated_seconds * 1000))}</p>}
      <Button kind="primary" disabled={send.busy} onClick={() => send.run()}>
        {m.replay.send(deliveries)}
      </Button>
    </div>
  );
}

function Progress({ id, readOnly }: { id: string; readOnly: boolean }) {
  const path = `/v1/webhooks/replays/${id}`;
  const call = useCall();
  const [isRunning, setRunning] = useState(true);
  const [asks, setAsks] = useState(false);
  const replay = useQuery<Replay>(path, isRunning ? 2000 : undefined);
  const state = replay.data?.state;
  if (state !== undefined && (state === 'running') !== isRunning) setRunning(state === 'running');
  const cancel = useAction(async () => {
    await call('POST', `${path}/cancel`);
    setAsks(false);
    replay.reload();
  });
  const actions = isRunning && !readOnly && (
    <Button kind="danger" onClick={() => setAsks(true)}>
      {m.replay.cancel}
    </Button>
  );
  return (
    <Panel title={m.replay.progress} request={path} cli={`replays get ${id}`} actions={actions}>
      <Load query={replay}>
        {(data) => (
          <>
            <p class="line" aria-live="polite">
              <State of={data.state} names={m.replay.state} />
              <span>
                {count(data.matched - data.pending)} / {count(data.matched)}
              </span>
            </p>
            <progress
              max={Math.max(1, data.matched)}
              value={data.matched - data.pending}
              aria-label={m.replay.progress}
            />
            <Facts
              rows={[
                [m.replay.pending, count(data.pending)],
                [m.replay.succeeded, count(data.succeeded)],
                [m.replay.failed, count(data.failed)],
                [m.replay.canceled, count(data.canceled)],
                [m.webhooks.created, <When at={data.created_at} />],
              ]}
            />
            {data.state === 'canceled' && data.canceled > 0 && <p class="hint">{m.replay.canceledText}</p>}
            <a href={to('/deliveries', { webhook_id: data.webhook_id })}>{m.deliveries.title}</a>
          </>
        )}
      </Load>
      {asks && (
        <Confirm
          title={m.replay.cancel}
          text={m.replay.cancelText}
          action={m.replay.cancel}
          {...cancel}
          onConfirm={() => cancel.run()}
          onClose={() => setAsks(false)}
        />
      )}
    </Panel>
  );
}

function requestOf(query: URLSearchParams, yesterday: string) {
  const one = (name: string) => query.get(name) ?? undefined;
  const list = (name: string) => (query.has(name) ? query.getAll(name) : undefined);
  const rate = one('rate_per_second');
  return {
    since: one('since') ?? yesterday,
    until: one('until'),
    status: list('status'),
    event_type: list('event_type'),
    error: list('error'),
    status_code: list('status_code')?.map(Number),
    rate_per_second: rate === undefined ? undefined : Number(rate),
  };
}

const options = {
  since: 'since',
  until: 'until',
  status: 'status',
  event_type: 'type',
  error: 'error',
  status_code: 'status-code',
  rate_per_second: 'rate',
};
