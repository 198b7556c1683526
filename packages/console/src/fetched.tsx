import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { m } from './messages.ts';

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
    useEffect(() => {
      void fetchPart(load).then((found) => {
        page = found;
        setLoaded(() => found);
      });
    }, []);
    return Loaded ? <Loaded {...props} /> : <p class="loading">{m.states.loading}</p>;
  };
}
