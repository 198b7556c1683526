import { type ComponentChildren, Fragment } from 'preact';
import { useRef } from 'preact/hooks';
import { type Query, useQuery } from '../api/query.ts';
import type { EventTypeEntry, List, ScannedList } from '../api/types.ts';
import { timeOf } from '../format.ts';
import { m } from '../messages.ts';
import { navigate, setQuery, to, usePlace } from '../router.ts';
import { Field, Form, Select, TimeField, textOf, textsOf } from './form.tsx';
import { Button, When } from './text.tsx';

/** Filters that are in the address. A name whose field is empty leaves it. */
export function Filters({ names, children }: { names: readonly string[]; children: ComponentChildren }) {
  const { query } = usePlace();
  const isFiltered = names.some((name) => query.has(name));
  const buttons = useRef<HTMLDivElement>(null);
  const change = (read: (name: string) => string[]) => {
    // The fields leave the page with the old address.
    buttons.current?.querySelector('button')?.focus();
    setQuery(Object.fromEntries(names.map((name) => [name, read(name)])));
  };
  const apply = (fields: FormData) => {
    const page = pageOf(textOf(fields, 'q'));
    if (page !== undefined) return navigate(to(page));
    change((name) => textsOf(fields, name).flatMap((text) => valuesOf(name, text)));
  };
  return (
    <Form label={m.actions.filter} class="filters" onSubmit={apply}>
      <Fragment key={query.toString()}>{children}</Fragment>
      <div ref={buttons} class="buttons">
        <Button type="submit">{m.actions.filter}</Button>
        {isFiltered && <Button onClick={() => change(() => [])}>{m.actions.clear}</Button>}
      </div>
    </Form>
  );
}

/** What was typed into a field. A search takes its text as it is. */
function valuesOf(name: string, text: string): string[] {
  if (name === 'q') return [text];
  const values = (name === 'id' ? text.split(/[\s,]+/) : [text.trim()]).filter((value) => value !== '');
  return name === 'since' || name === 'until' ? values.map(timeOf) : values;
}

interface TypeSelectProps {
  label: string;
  name: string;
  /** A type that the list never has. */
  except?: string;
}

/** Filters by the type of the event. */
export function TypeSelect({ label, name, except }: TypeSelectProps) {
  const { query } = usePlace();
  const types = useQuery<List<EventTypeEntry>>('/v1/webhooks/event-types?limit=100').data?.data ?? [];
  const offered = types.filter(({ type }) => type !== except).map(({ type }) => [type, type] as const);
  return <Select label={label} name={name} value={query.get(name) ?? ''} options={[anyOption, ...offered]} />;
}

export const anyOption = ['', m.deliveries.any] as const;

/** Filters by the time of creation. With `since`, the field holds it until a person sets another time. */
export function PeriodFields({ since }: { since?: string }) {
  const { query } = usePlace();
  return (
    <>
      <TimeField
        label={m.deliveries.since}
        name="since"
        at={query.get('since') ?? since ?? null}
        required={since !== undefined}
      />
      <TimeField label={m.deliveries.until} name="until" at={query.get('until')} />
    </>
  );
}

/** The request of a list: its filters, and its place within it. */
export function listPath(path: string, query: URLSearchParams, names: readonly string[], limit = 50): string {
  const search = new URLSearchParams({ limit: String(limit) });
  for (const name of [...names, 'cursor']) for (const value of query.getAll(name)) search.append(name, value);
  return `${path}?${search}`;
}

/**
 * Next and Previous. The browser's history remembers earlier pages; after a shared link, Previous leads to the first. A
 * page of a search ends after a second: it says how far the search looked, and the search goes on with Next.
 */
export function Pager({ of: { data: list, loading, reload } }: { of: Query<ScannedList<unknown>> }) {
  const { query } = usePlace();
  const next = list?.next_cursor ?? undefined;
  const searchedUntil = list?.searched_until;
  const before: (string | undefined)[] = history.state?.before ?? [];
  const cursor = query.get('cursor') ?? undefined;
  const goOn = () => {
    // A search that read nothing goes on where it began.
    if (next === cursor) reload();
    else go(next, [...before, cursor]);
  };
  const go = (to: string | undefined, pages: (string | undefined)[]) => setQuery({ cursor: to }, { before: pages });
  return (
    <div class="buttons">
      <Button disabled={cursor === undefined} onClick={() => go(before.at(-1), before.slice(0, -1))}>
        {m.actions.previous}
      </Button>
      <Button disabled={next === undefined || loading} onClick={goOn}>
        {searchedUntil === undefined ? m.actions.next : m.search.on}
      </Button>
      {searchedUntil !== undefined && (
        <span class="muted" role="status">
          {searchedUntil !== null ? (
            <>
              {m.search.until} <When at={searchedUntil} />
            </>
          ) : list?.has_more ? (
            m.search.nothing
          ) : (
            m.search.end
          )}
        </span>
      )}
    </div>
  );
}

/** The page of an id of ours; undefined for any other text. */
function pageOf(id: string): string | undefined {
  const page = { dlv: 'deliveries', evt: 'events', whk: 'webhooks' }[id.slice(0, 3)];
  return page && /^\w{3}_[0-9a-z]{26}$/.test(id) ? `/${page}/${id}` : undefined;
}

/** An id opens its page. */
export function Jump() {
  const open = (fields: FormData) => {
    const page = pageOf(textOf(fields, 'id'));
    if (page !== undefined) navigate(to(page));
  };
  return (
    <Form label={m.deliveries.jump} class="form inline" onSubmit={open}>
      <Field
        label={m.deliveries.jump}
        name="id"
        placeholder={m.deliveries.jumpLike}
        title={m.deliveries.jumpLike}
        pattern="\s*(dlv|evt|whk)_[0-9a-z]{26}\s*"
        required
      />
    </Form>
  );
}
