import type { ComponentChildren } from 'preact';
import { m } from '../messages.ts';
import { navigate, setQuery, to, usePlace } from '../router.ts';
import { Field, Form, textOf, textsOf } from './form.tsx';

/** Filters that are in the address. A name whose field is empty leaves it. */
export function Filters({ names, children }: { names: readonly string[]; children: ComponentChildren }) {
  const { query } = usePlace();
  const isFiltered = names.some((name) => query.has(name));
  const apply = (fields: FormData) => {
    const read = (name: string) =>
      textsOf(fields, name)
        .map((value) => value.trim())
        .filter((value) => value !== '')
        .map((value) => (isTime(name) ? new Date(value).toISOString() : value));
    setQuery(Object.fromEntries(names.map((name) => [name, read(name)])));
  };
  return (
    <Form key={query.toString()} label={m.actions.filter} class="filters" onSubmit={apply}>
      {children}
      <div class="buttons">
        <button type="submit" class="button">
          {m.actions.filter}
        </button>
        {isFiltered && (
          <button
            type="button"
            class="button"
            onClick={() => setQuery(Object.fromEntries(names.map((name) => [name, undefined])))}
          >
            {m.actions.clear}
          </button>
        )}
      </div>
    </Form>
  );
}

const isTime = (name: string) => name === 'since' || name === 'until';

/** Filters of a list by the time of creation. */
export function PeriodFields() {
  const { query } = usePlace();
  const field = (name: 'since' | 'until') => (
    <Field label={m.deliveries[name]} name={name} type="datetime-local" defaultValue={localTime(query.get(name))} />
  );
  return (
    <>
      {field('since')}
      {field('until')}
    </>
  );
}

/** The value of a field for a time, in the time zone of the browser. */
export function localTime(at: string | null): string {
  if (at === null || Number.isNaN(Date.parse(at))) return '';
  const date = new Date(at);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** The request of a list: its filters, and its place within it. */
export function listPath(path: string, query: URLSearchParams, names: readonly string[], limit = 50): string {
  const search = new URLSearchParams({ limit: String(limit) });
  for (const name of [...names, 'cursor']) for (const value of query.getAll(name)) search.append(name, value);
  return `${path}?${search}`;
}

/**
 * Next and Previous. The browser's history remembers earlier pages; after a shared link, Previous leads to the first.
 */
export function Pager({ next }: { next: string | null }) {
  const { query } = usePlace();
  const before: (string | undefined)[] = history.state?.before ?? [];
  const cursor = query.get('cursor') ?? undefined;
  const go = (to: string | undefined, pages: (string | undefined)[]) => setQuery({ cursor: to }, { before: pages });
  return (
    <div class="buttons">
      <button
        type="button"
        class="button"
        disabled={cursor === undefined}
        onClick={() => go(before.at(-1), before.slice(0, -1))}
      >
        {m.actions.previous}
      </button>
      <button
        type="button"
        class="button"
        disabled={next === null}
        onClick={() => next !== null && go(next, [...before, cursor])}
      >
        {m.actions.next}
      </button>
    </div>
  );
}

/** An id opens its page. */
export function Jump() {
  const open = (fields: FormData) => {
    const id = textOf(fields, 'id');
    const page = { dlv: 'deliveries', evt: 'events', whk: 'webhooks' }[id.slice(0, 3)];
    if (page && /^\w+$/.test(id)) navigate(to(`/${page}/${id}`));
  };
  return (
    <Form label={m.deliveries.jump} class="form inline" onSubmit={open}>
      <Field label={m.deliveries.jump} name="id" placeholder="dlv_… evt_… whk_…" required />
    </Form>
  );
}
