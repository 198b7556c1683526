import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { configuration, sessionEnded } from './api/client.ts';
import { useAction, useCall } from './api/query.ts';
import type { Session } from './api/types.ts';
import { duration, inUtc } from './format.ts';
import { m } from './messages.ts';
import { navigate, to, usePlace } from './router.ts';
import { hasScope } from './session.tsx';
import { useStore } from './store.ts';
import { Ended } from './ui/ended.tsx';
import { Button, Text, useNow, When } from './ui/text.tsx';

const links: [string, string, string?][] = [
  ['', m.nav.overview],
  ['/webhooks', m.nav.webhooks],
  ['/deliveries', m.nav.deliveries],
  ['/events', m.nav.events],
  ['/live', m.nav.live],
  ['/signatures', m.nav.signatures],
  ['/event-types', m.nav.eventTypes],
  ['/keys', m.nav.keys, 'keys:read'],
  ['/usage', m.nav.usage, 'usage:read'],
];

/** The frame of every page: navigation, the name of the session, and banners. */
export function Shell({ session, children }: { session: Session; children: ComponentChildren }) {
  const { brand } = configuration.get();
  const ended = useStore(sessionEnded);
  const [open, setOpen] = useState(false);
  return (
    <div class="shell">
      <a class="skip" href="#content">
        {m.skip}
      </a>
      <header class="top">
        <a class="brand" href={to('')}>
          {brand?.logo && <img src={brand.logo} alt="" height={20} />}
          <strong>{brand?.name ?? m.console}</strong>
          <span class="organization">
            <Text of={session.organization.name} />
          </span>
        </a>
        <Button kind="menu" aria-expanded={open} onClick={() => setOpen(!open)}>
          {m.menu}
        </Button>
      </header>
      <div class={open ? 'side open' : 'side'}>
        <Navigation session={session} onChoose={() => setOpen(false)} />
        <WhoAmI session={session} />
      </div>
      <main id="content" tabIndex={-1}>
        {session.link_reused_at && (
          <div class="notice bad" role="alert">
            <p>
              {m.linkReused} <When at={session.link_reused_at} />. {m.linkReusedThen}
            </p>
          </div>
        )}
        {ended && <Ended />}
        {children}
      </main>
    </div>
  );
}

function Navigation({ session, onChoose }: { session: Session; onChoose: () => void }) {
  const { path } = usePlace();
  const isCurrent = (page: string) => (page === '' ? path.split('/').length <= 3 : path.startsWith(to(page)));
  return (
    <nav aria-label={m.menu}>
      <ul>
        {links
          .filter(([, , scope]) => !scope || hasScope(session, scope))
          .map(([page, name]) => (
            <li key={page}>
              <a href={to(page)} aria-current={isCurrent(page) ? 'page' : undefined} onClick={onChoose}>
                {name}
              </a>
            </li>
          ))}
      </ul>
    </nav>
  );
}

function WhoAmI({ session }: { session: Session }) {
  const utc = useStore(inUtc);
  const left = new Date(session.expires_at).getTime() - useNow(10_000);
  const call = useCall();
  const signOut = useAction(async () => {
    await call('DELETE', '/session');
    navigate('/console/enter', { signedOut: true });
  });
  return (
    <section class="who" aria-label={m.who.title}>
      <p>
        <strong>{session.label ? <Text of={session.label} /> : m.who.unnamed}</strong>
      </p>
      <p class="muted" title={session.scopes.join(' ')}>
        {m.who.scopes}: {session.scopes.join(', ')}
      </p>
      <p class="muted">{left > 0 ? m.who.ends(duration(Math.max(60_000, left))) : m.who.ended}</p>
      <label class="switch">
        <input type="checkbox" checked={utc} onChange={(event) => inUtc.set(event.currentTarget.checked)} /> {m.who.utc}
      </label>
      <Button disabled={signOut.busy} onClick={() => signOut.run()}>
        {m.who.signOut}
      </Button>
    </section>
  );
}
