import { createStore, useStore } from './store.ts';

/** The address that the page shows. Every filter is in it, so that a link shows the same to a colleague. */
interface Place {
  path: string;
  query: URLSearchParams;
}

const readPlace = (): Place => ({ path: location.pathname, query: new URLSearchParams(location.search) });

const place = createStore(readPlace());

export const usePlace = () => useStore(place);

/** The organization of the address; undefined on the page that enters. */
export const organizationOf = (path: string) => /^\/console\/(org_[0-9a-z]+)(\/|$)/.exec(path)?.[1];

/** The address of a page of this organization. */
export function to(page: string, query: Record<string, string | readonly string[] | undefined> = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const item of [value ?? []].flat()) if (item !== '') search.append(name, item);
  const text = search.toString();
  return `/console/${organizationOf(place.get().path) ?? ''}${page}${text === '' ? '' : `?${text}`}`;
}

/** The address of this page as `path` of a new session: of few characters, and 500 at most. */
export function returnPath({ path, query }: Place): string {
  const page = /^(?:\/[\w-]+)+\/?$/.test(path) ? path : to('');
  const kept = [...query].filter((pair) => pair.every((text) => /^[\w.,:-]+$/.test(text)));
  const search = kept.map((pair) => pair.join('=')).join('&');
  return search === '' || page.length + search.length > 499 ? page : `${page}?${search}`;
}

export function navigate(address: string, state?: unknown): void {
  history.pushState(state, '', address);
  place.set(readPlace());
}

/** Changes parameters of the address; undefined removes one. Always returns to the first page of a list. */
export function setQuery(changes: Record<string, string | readonly string[] | undefined>, state?: unknown): void {
  const { path, query } = place.get();
  const next = new URLSearchParams(query);
  next.delete('cursor');
  for (const [name, value] of Object.entries(changes)) {
    next.delete(name);
    for (const item of [value ?? []].flat()) if (item !== '') next.append(name, item);
  }
  const text = next.toString();
  navigate(text === '' ? path : `${path}?${text}`, state);
}

/** Links within the console change the page without loading it anew. */
export function startRouter(): void {
  addEventListener('popstate', () => place.set(readPlace()));
  document.addEventListener('click', (event) => {
    const link = (event.target as Element).closest('a');
    if (!link || event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey || link.target !== '') return;
    if (link.origin !== location.origin || !link.pathname.startsWith('/console/') || link.hash !== '') return;
    event.preventDefault();
    navigate(link.href);
    scrollTo(0, 0);
  });
}
