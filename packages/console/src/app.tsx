import type { ComponentType } from 'preact';
import { sessionEnded } from './api/client.ts';
import { useQuery } from './api/query.ts';
import type { Session } from './api/types.ts';
import { fetched } from './fetched.tsx';
import { m } from './messages.ts';
import { Deliveries } from './pages/deliveries.tsx';
import { Enter } from './pages/enter.tsx';
import { Events } from './pages/events.tsx';
import { Live } from './pages/live.tsx';
import { Overview } from './pages/overview.tsx';
import { Webhooks } from './pages/webhooks.tsx';
import { organizationOf, to, usePlace } from './router.ts';
import { SessionProvider } from './session.tsx';
import { Shell } from './shell.tsx';
import { useStore } from './store.ts';
import { Ended } from './ui/ended.tsx';
import { Page, ProblemNotice } from './ui/page.tsx';

const pages: [RegExp, ComponentType<{ id: string }>][] = [
  [/^$/, Overview],
  [/^webhooks$/, Webhooks],
  [/^webhooks\/new$/, fetched(async () => (await import('./pages/webhook-new.tsx')).NewWebhook)],
  [/^webhooks\/(whk_\w+)$/, fetched(async () => (await import('./pages/webhook.tsx')).WebhookPage)],
  [/^events$/, Events],
  [/^events\/(evt_\w+)$/, fetched(async () => (await import('./pages/event.tsx')).EventPage)],
  [/^live$/, Live],
  [/^signatures$/, fetched(async () => (await import('./pages/signatures.tsx')).Signatures)],
  [/^event-types$/, fetched(async () => (await import('./pages/event-types.tsx')).EventTypes)],
  [/^keys$/, fetched(async () => (await import('./pages/keys.tsx')).Keys)],
  [/^usage$/, fetched(async () => (await import('./pages/usage.tsx')).UsagePage)],
  [/^webhooks\/(whk_\w+)\/replay$/, fetched(async () => (await import('./pages/replay.tsx')).ReplayPage)],
  [/^deliveries$/, Deliveries],
  [/^deliveries\/(dlv_\w+)$/, fetched(async () => (await import('./pages/delivery.tsx')).DeliveryPage)],
];

export function App() {
  const organization = organizationOf(usePlace().path);
  return organization === undefined ? <Enter /> : <Inside key={organization} />;
}

function Inside() {
  const session = useQuery<Session>('/session', 60_000);
  const ended = useStore(sessionEnded);
  const { path } = usePlace();
  if (!session.data)
    return (
      <main class="alone">
        <h1>{m.console}</h1>
        {ended ? (
          <Ended alone />
        ) : session.problem ? (
          <ProblemNotice problem={session.problem} retry={session.reload} />
        ) : (
          <p class="loading">{m.states.loading}</p>
        )}
      </main>
    );
  const inside = path.split('/').slice(3).join('/').replace(/\/$/, '');
  const found = pages.find(([pattern]) => pattern.test(inside));
  const ShownPage = found?.[1] ?? NotFound;
  return (
    <SessionProvider value={session.data}>
      <Shell session={session.data}>
        <ShownPage key={path} id={found?.[0].exec(inside)?.[1] ?? ''} />
      </Shell>
    </SessionProvider>
  );
}

const NotFound = () => (
  <Page title={m.states.notFound}>
    <p>{m.states.notFoundText}</p>
    <p>
      <a href={to('')}>{m.states.home}</a>
    </p>
  </Page>
);
