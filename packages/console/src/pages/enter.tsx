import { useEffect, useState } from 'preact/hooks';
import { call, configuration, sessionEnded } from '../api/client.ts';
import { useAction } from '../api/query.ts';
import { m } from '../messages.ts';
import { navigate } from '../router.ts';
import { ProblemNotice } from '../ui/page.tsx';
import { Button, Text } from '../ui/text.tsx';

/** The token of the address. The page removes it from the address at once, and never stores it. */
let token = location.pathname === '/console/enter' ? location.hash.slice(1) : '';
if (token !== '') history.replaceState(null, '', location.pathname);
// Another link, pasted where the last one failed, changes only the part after `#`.
addEventListener('hashchange', () => location.pathname === '/console/enter' && location.reload());

/** Enters after a click, so that a scanner that only opens links does not use the link up. */
export function Enter() {
  const [used, setUsed] = useState(token === '');
  const [label, setLabel] = useState<string | null>(null);
  useEffect(() => {
    document.title = m.enter.title;
    // Ignores a refusal: the click repeats it, and the server then notes that somebody used the link again.
    if (token !== '')
      call<{ label: string | null }>('POST', '/enter', { token, look: true }).then(
        (link) => setLabel(link.label),
        () => undefined,
      );
  }, []);
  const enter = useAction(async () => {
    const { path } = await call<{ organization_id: string; path: string }>('POST', '/enter', { token });
    token = '';
    setUsed(true);
    sessionEnded.set(false);
    navigate(path);
  });
  // 400: a part of the link is missing.
  const refused = enter.problem?.status === 401 || enter.problem?.status === 400;
  const { brand, sign_in_url } = configuration.get();
  return (
    <main class="alone">
      {brand && (
        <p class="brand">
          {brand.logo && <img src={brand.logo} alt="" height={32} />}
          <strong>{brand.name}</strong>
        </p>
      )}
      <h1 tabIndex={-1}>
        {label === null || used ? (
          m.enter.title
        ) : (
          <>
            {m.enter.openFor} <Text of={label} />
          </>
        )}
      </h1>
      {history.state?.signedOut ? (
        <p>{m.enter.signedOut}</p>
      ) : (
        <p>{refused ? m.enter.refused : used ? m.enter.noLink : m.enter.text}</p>
      )}
      {enter.problem && !refused && <ProblemNotice problem={enter.problem} />}
      <div class="buttons">
        {!used && !refused && (
          <Button kind="primary" disabled={enter.busy} onClick={() => enter.run()}>
            {m.enter.open}
          </Button>
        )}
        {(used || refused) && sign_in_url && (
          <a class="button primary" href={sign_in_url}>
            {m.enter.signIn}
          </a>
        )}
      </div>
    </main>
  );
}
