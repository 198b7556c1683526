import { useQuery } from '../api/query.ts';
import type { Delivery, List, Webhook, WebhookHealth, WebhookHealthSummary } from '../api/types.ts';
import { upTo } from '../format.ts';
import { m } from '../messages.ts';
import { to } from '../router.ts';
import { Causes, errorName } from '../ui/causes.tsx';
import { Load, Page, Panel, Shown } from '../ui/page.tsx';
import { State, Text, When } from '../ui/text.tsx';
import { Plots } from './plots.tsx';

const healthPath = '/v1/webhooks/health?limit=100';

export function Overview() {
  const health = useQuery<List<WebhookHealthSummary>>(healthPath, 10_000);
  const webhooks = useQuery<List<Webhook>>('/v1/webhooks?limit=100');
  return (
    <Page title={m.overview.title}>
      <Load query={health}>
        {({ data }) => (
          <>
            {data.every(({ state, last_success_at }) => state === 'idle' && last_success_at === null) && (
              <FirstRun first={data.at(-1)?.webhook_id} />
            )}
            {data.length > 0 && <Sentence all={data} />}
            <Shown path={healthPath} cli="webhooks health" />
            {data
              .filter(({ state }) => state === 'failing' || state === 'degraded')
              .slice(0, 5)
              .map(({ webhook_id }) => (
                <Failing
                  key={webhook_id}
                  id={webhook_id}
                  webhook={webhooks.data?.data.find(({ id }) => id === webhook_id)}
                />
              ))}
          </>
        )}
      </Load>
      <Plots />
    </Page>
  );
}

/** One sentence: does everything arrive, and if not, since when, and how much waits. */
function Sentence({ all }: { all: readonly WebhookHealthSummary[] }) {
  const of = (wanted: string) => all.filter(({ state }) => state === wanted);
  const failing = of('failing');
  const oldest = failing
    .map(({ since }) => since)
    .filter((since) => since !== null)
    .sort()[0];
  const waiting = upTo(...all.map(({ pending }) => pending));
  const disabled = of('disabled').length;
  const paused = of('paused').length;
  const running = all.length - disabled - paused;
  const degraded = of('degraded').length;
  const isWell = failing.length + degraded === 0;
  return (
    <p class={`headline ${failing.length > 0 ? 'bad' : degraded > 0 ? 'warn' : 'good'}`} role="status">
      {failing[0] && (
        <span>
          {m.overview.failing(failing.length, all.length)} {m.overview.since} <When at={oldest} />
          <MainCause id={failing[0].webhook_id} />.{' '}
        </span>
      )}
      {degraded > 0 && <span>{m.overview.degraded(degraded)} </span>}
      {isWell && running > 0 && (
        <span>{of('idle').length === all.length ? m.overview.idle(all.length) : m.overview.allWell(running)} </span>
      )}
      {paused > 0 && <span>{m.overview.paused(paused)} </span>}
      {disabled > 0 && <span>{m.overview.disabled(disabled)} </span>}
      {waiting !== '0' && <span>{m.overview.waiting(waiting)}</span>}
    </p>
  );
}

/** Why most attempts of a webhook failed. */
function MainCause({ id }: { id: string }) {
  const cause = useQuery<WebhookHealth>(`/v1/webhooks/${id}/health`).data?.causes[0];
  return cause ? <>: {errorName(cause.error, cause.status_code)}</> : null;
}

function Failing({ id, webhook }: { id: string; webhook: Webhook | undefined }) {
  const path = `/v1/webhooks/${id}/health`;
  const health = useQuery<WebhookHealth>(path, 10_000);
  return (
    <Panel
      title={webhook ? new URL(webhook.url).host : id}
      request={path}
      cli={`webhooks health ${id}`}
      actions={<a href={to(`/webhooks/${id}`)}>{m.overview.open}</a>}
    >
      <Load query={health}>
        {(data) => (
          <>
            <p class="line">
              <State of={data.state} names={m.webhooks.states} />
              {webhook && (
                <code>
                  <Text of={webhook.url} />
                </code>
              )}
              <span class="muted">
                {upTo(data.pending)} {m.webhooks.waiting.toLowerCase()}
              </span>
            </p>
            <Causes webhookId={id} causes={data.causes} />
          </>
        )}
      </Load>
    </Panel>
  );
}

/** Three steps. The server's data says which are done. */
function FirstRun({ first }: { first: string | undefined }) {
  const path = '/v1/webhooks/deliveries?limit=100';
  const deliveries = useQuery<List<Delivery>>(path, 5000);
  const tests = deliveries.data?.data.filter(({ test }) => test) ?? [];
  const isVerified = tests.some(({ status }) => status === 'succeeded');
  const page = first === undefined ? to('/webhooks/new') : to(`/webhooks/${first}`);
  const steps: [string, string, boolean][] = [
    [m.start.add, m.start.addText, first !== undefined],
    [m.start.test, m.start.testText, tests.length > 0],
    [m.start.verify, m.start.verifyText, isVerified],
  ];
  const next = steps.findIndex(([, , isDone]) => !isDone);
  return (
    <Panel title={m.start.title} request={path} cli="deliveries list">
      <ol class="steps">
        {steps.map(([name, text, isDone], index) => (
          <li key={name} class={isDone ? 'done' : ''}>
            <div>
              <strong>{name}</strong>
              <span class="muted"> {isDone ? m.start.done : m.start.open}</span>
              <p class="muted">{text}</p>
            </div>
            {index === next && (
              <a class="button primary" href={page}>
                {name}
              </a>
            )}
          </li>
        ))}
      </ol>
    </Panel>
  );
}
