import { useState } from 'preact/hooks';
import { useAction, useCall, useQuery } from '../api/query.ts';
import type { Attempt, DeliveryDetail, Event, Webhook } from '../api/types.ts';
import { curlOf } from '../curl.ts';
import { count, duration, pretty, visible } from '../format.ts';
import { m } from '../messages.ts';
import { to } from '../router.ts';
import { useHidesBodies, useReadOnly } from '../session.tsx';
import { errorName } from '../ui/causes.tsx';
import { Load, Page, Panel, ProblemNotice } from '../ui/page.tsx';
import { Facts } from '../ui/table.tsx';
import { Button, Code, Copy, Id, State, Text, useNow, When } from '../ui/text.tsx';
import { WhyNoData } from './event.tsx';

export function DeliveryPage({ id }: { id: string }) {
  const path = `/v1/webhooks/deliveries/${id}`;
  const call = useCall();
  const readOnly = useReadOnly('webhooks:write');
  const [isPending, setPending] = useState(false);
  const delivery = useQuery<DeliveryDetail>(path, isPending ? 2000 : undefined);
  const { data } = delivery;
  const webhook = useQuery<Webhook>(data && `/v1/webhooks/${data.webhook_id}`);
  const event = useQuery<Event>(data?.request.body === null ? `/v1/events/${data.event_id}` : undefined);
  if (data && (data.status === 'pending') !== isPending) setPending(data.status === 'pending');
  const retry = useAction(async () => {
    await call('POST', `${path}/retry`);
    delivery.reload();
  });
  const url = webhook.data?.url ?? data?.attempts[0]?.url ?? undefined;
  return (
    <Page
      title={data ? data.event_type : m.deliveries.one}
      name={m.deliveries.one}
      above={{ href: to('/deliveries'), name: m.deliveries.title }}
      actions={
        data && (
          <>
            {data.request.body !== null && url !== undefined && (
              <Copy text={curlOf({ url, headers: data.request.headers, body: data.request.body })}>
                {m.deliveries.copyCurl}
              </Copy>
            )}
            {readOnly ? (
              <span class="muted">{readOnly}</span>
            ) : (
              <Button kind="primary" disabled={retry.busy || isPending} onClick={() => retry.run()}>
                {m.deliveries.retry}
              </Button>
            )}
          </>
        )
      }
    >
      {retry.problem && <ProblemNotice problem={retry.problem} />}
      <Load query={delivery}>
        {(detail) => (
          <>
            <Panel title={m.deliveries.one} request={path} cli={`deliveries show ${id}`}>
              <Summary delivery={detail} url={url} />
            </Panel>
            <Timeline delivery={detail} event={event.data} />
            <SentRequest delivery={detail} event={event.data} />
          </>
        )}
      </Load>
    </Page>
  );
}

function Summary({ delivery, url }: { delivery: DeliveryDetail; url: string | undefined }) {
  const { status, waiting_for, next_attempt_at, canceled_reason } = delivery;
  const now = useNow();
  const dueIn = next_attempt_at === null ? 0 : new Date(next_attempt_at).getTime() - now;
  return (
    <>
      <p class="line" aria-live="polite">
        <State of={status} names={m.deliveries.statuses} />
        {status === 'failed' && <span>{errorName(delivery.last_error, delivery.last_status_code)}</span>}
        {waiting_for && <span>{m.deliveries.waitsFor[waiting_for] ?? waiting_for}</span>}
        {canceled_reason && <span>{m.deliveries.canceledReasons[canceled_reason] ?? visible(canceled_reason)}</span>}
      </p>
      <Facts
        rows={[
          ['Id', <Id value={delivery.id} />],
          [m.deliveries.event, <Id value={delivery.event_id} href={to(`/events/${delivery.event_id}`)} />],
          [
            m.deliveries.webhook,
            <a href={to(`/webhooks/${delivery.webhook_id}`)}>
              <Text of={url ?? delivery.webhook_id} />
            </a>,
          ],
          [m.deliveries.subject, <Text of={delivery.test ? m.deliveries.test : (delivery.subject ?? '–')} />],
          [m.deliveries.attempts, `${delivery.attempt_count} / ${delivery.max_attempts}`],
          [m.deliveries.created, <When at={delivery.created_at} />],
          ...(next_attempt_at
            ? [
                [
                  m.deliveries.next,
                  <>
                    <When at={next_attempt_at} />{' '}
                    {dueIn > 0 && <span class="muted">({duration(Math.max(1000, dueIn))})</span>}
                  </>,
                ] as const,
              ]
            : []),
        ]}
      />
    </>
  );
}

interface PartProps {
  delivery: DeliveryDetail;
  /** Read only if the delivery has no body: it says why. */
  event: Event | undefined;
}

/** Every attempt: its time, the duration of each part, and the answer. */
function Timeline({ delivery, event }: PartProps) {
  return (
    <Panel title={m.deliveries.timeline}>
      {delivery.attempts.length === 0 && <p class="empty">{m.deliveries.noAttempts}</p>}
      <ol class="timeline">
        {delivery.attempts.map((attempt) => (
          <li key={attempt.id}>
            <p class="line">
              <State of={attempt.error === null ? 'succeeded' : 'failed'} names={m.deliveries.statuses} />
              <strong>{m.deliveries.attempt(attempt.number)}</strong>
              <When at={attempt.started_at} />
              <span>{errorName(attempt.error, attempt.status_code)}</span>
              <span class="muted">{count(attempt.duration_ms)} ms</span>
              {attempt.trigger !== 'scheduled' && <span class="muted">{m.deliveries[attempt.trigger]}</span>}
              {attempt.superseded && <span class="muted">{m.deliveries.superseded}</span>}
            </p>
            <Phases attempt={attempt} />
            {attempt.error_message && (
              <p>
                <Text of={attempt.error_message} />
              </p>
            )}
            {attempt.url && (
              <p class="hint">
                <Text of={attempt.url} />
              </p>
            )}
            {attempt.remote_address && (
              <p class="hint">
                {m.deliveries.connectedTo} <Text of={attempt.remote_address} />
              </p>
            )}
            {attempt.response_headers && (
              <Code label={`${m.deliveries.answerHeaders} ${attempt.number}`}>
                {headerLines(attempt.response_headers)}
              </Code>
            )}
            {attempt.response_body && (
              <Code label={`${m.deliveries.answer} ${attempt.number}`}>{attempt.response_body}</Code>
            )}
            <p class="hint">
              <WhyNoAnswer attempt={attempt} event={event ?? { ...delivery, erased_at: null }} />
            </p>
          </li>
        ))}
      </ol>
    </Panel>
  );
}

/** Why the address or the headers of an answer are absent. */
function WhyNoAnswer({ attempt, event }: { attempt: Attempt; event: Pick<Event, 'erased_at' | 'created_at'> }) {
  const { error, status_code, remote_address, response_headers, timings } = attempt;
  const hidesBodies = useHidesBodies();
  if (error === null) return m.deliveries.onlyFailed;
  if (error === 'destination_blocked') return m.deliveries.blocked;
  if (remote_address !== null && (response_headers !== null || status_code === null)) return null;
  if (hidesBodies) return m.states.hidden;
  const isConnected = status_code !== null || timings.connect_ms !== null;
  return isConnected || event.erased_at !== null ? <WhyNoData event={event} /> : m.deliveries.notConnected;
}

/** The durations of an attempt's parts as bars, next to their numbers. */
function Phases({ attempt: { timings, duration_ms } }: { attempt: Attempt }) {
  const parts = Object.entries(timings).filter((part): part is [string, number] => part[1] !== null);
  const whole = Math.max(1, duration_ms);
  let x = 0;
  return (
    <div class="phases">
      <svg viewBox="0 0 200 6" preserveAspectRatio="none" aria-hidden="true">
        <path d="M0 0h200v6H0z" class="rest" />
        {parts.map(([name, ms]) => {
          const from = x;
          x = Math.min(200, x + (ms / whole) * 200);
          return <path key={name} d={`M${from} 0H${Math.max(x, from + 1)}V6H${from}z`} class={name} />;
        })}
      </svg>
      <p class="hint">
        {parts.map(([name, ms]) => `${m.deliveries.phases[name] ?? name} ${count(ms)} ms`).join(' · ')}
        {timings.connect_ms === null && timings.first_byte_ms !== null && ` · ${m.deliveries.reused}`}
      </p>
    </div>
  );
}

const headerLines = (headers: Record<string, string>) =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');

function SentRequest({ delivery, event }: PartProps) {
  const { request } = delivery;
  return (
    <Panel title={m.deliveries.request}>
      <Code label={m.deliveries.headers}>{headerLines(request.headers)}</Code>
      {request.body === null ? (
        <p class="empty">
          <WhyNoData event={event ?? { ...delivery, erased_at: null }} />
        </p>
      ) : (
        <Code label={m.deliveries.body} copy={request.body}>
          {pretty(request.body)}
        </Code>
      )}
    </Panel>
  );
}
