import { useEffect, useState } from 'preact/hooks';
import { call, sessionEnded } from '../api/client.ts';
import { useAction } from '../api/query.ts';
import type { Configuration } from '../api/types.ts';
import { m } from '../messages.ts';
import { navigate } from '../router.ts';
import { ProblemNotice } from '../ui/page.tsx';

/** The token of the address. The page removes it from the address at once, and never stores it. */
const token = location.pathname === '/console/enter' ? location.hash.slice(1) : '';
if (token !== '') history.replaceState(null, '', location.pathname);

/** Enters after a click, so that a scanner that only opens links does not use the link up. */
export function Enter({ configuration }: { configuration: Configuration }) {
  const [used, setUsed] = useState(token === '');
  useEffect(() => {
    document.title = m.enter.title;
  }, []);
  const enter = useAction(async () => {
    const { path } = await call<{ organization_id: string; path: string }>('POST', '/enter', { token });
    setUsed(true);
    sessionEnded.set(false);
    navigate(path);
  });
  // 400: a part of the link is missing.
  const refused = enter.problem?.status === 401 || enter.problem?.status === 400;
  const name = configuration.brand?.name;
  return (
    <main class="alone">
      {configuration.brand?.logo && <img src={configuration.brand.logo} alt="" height={32} />}
      <h1>{name ? m.enter.openFor(name) : m.enter.title}</h1>
      {history.state?.signedOut ? (
        <p>{m.enter.signedOut}</p>
      ) : (
        <p>{refused ? m.enter.refused : used ? m.enter.noLink : m.enter.text}</p>
      )}
      {enter.problem && !refused && <ProblemNotice problem={enter.problem} />}
      <div class="buttons">
        {!used && !refused && (
          <button type="button" class="button primary" disabled={enter.busy} onClick={() => enter.run()}>
            {m.enter.open}
          </button>
        )}
        {(used || refused) && configuration.sign_in_url && (
          <a class="button primary" href={configuration.sign_in_url}>
            {m.enter.signIn}
          </a>
        )}
      </div>
    </main>
  );
}
