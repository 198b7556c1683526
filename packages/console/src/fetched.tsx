import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Problem } from './api/client.ts';
import { m } from './messages.ts';
import { Page, ProblemNotice } from './ui/page.tsx';

/** Imports a file when it is needed. A deployment may remove this file; reloads the page once. */
export async function fetchPart<Part>(load: () => Promise<Part>): Promise<Part> {
  try {
    return await load();
  } catch (error) {
    if (history.state?.reloaded) throw error;
    history.replaceState({ ...history.state, reloaded: true }, '');
    location.reload();
    return await new Promise(() => undefined);
  }
}

/** A page that is not part of the first load. */
export function fetched<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  let page: ComponentType<Props> | undefined;
  return function Fetched(props) {
    const [Loaded, setLoaded] = useState(() => page);
    const [isMissing, setMissing] = useState(false);
    useEffect(() => {
      fetchPart(load).then(
        (found) => {
          page = found;
          setLoaded(() => found);
        },
        () => setMissing(true),
      );
    }, []);
    if (isMissing)
      return (
        <Page title={m.states.failed}>
          <ProblemNotice problem={new Problem(0, {}, undefined)} retry={() => location.reload()} />
        </Page>
      );
    return Loaded ? <Loaded {...props} /> : <p class="loading">{m.states.loading}</p>;
  };
}
