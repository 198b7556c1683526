import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { type Problem, sessionEnded } from '../api/client.ts';
import type { Query } from '../api/query.ts';
import { shellWord } from '../curl.ts';
import { m } from '../messages.ts';
import { organizationOf, to, usePlace } from '../router.ts';
import { useStore } from '../store.ts';
import { Ended } from './ended.tsx';
import { Button, Code, useNow } from './text.tsx';

let shownPath = location.pathname;

interface PageProps {
  title: string;
  /** The title of the window, if the heading is longer. */
  name?: string;
  above?: { href: string; name: string };
  actions?: ComponentChildren;
  children: ComponentChildren;
}

/** A page with its heading, which takes the focus when the address changes. */
export function Page({ title, name, above, actions, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  const { path } = usePlace();
  useEffect(() => {
    document.title = `${name ?? title} · ${m.console}`;
  }, [title, name]);
  useEffect(() => {
    if (shownPath !== path) heading.current?.focus({ preventScroll: true });
    shownPath = path;
  }, [path]);
  return (
    <>
      <header class="page-head">
        <div>
          {above && (
            <a class="above" href={above.href}>
              ← {above.name}
            </a>
          )}
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
        </div>
        {actions && <div class="actions">{actions}</div>}
      </header>
      {children}
    </>
  );
}

interface PanelProps {
  title: string;
  /** The page's own heading says it already. */
  bare?: boolean;
  actions?: ComponentChildren;
  children: ComponentChildren;
  request?: string | undefined;
  /** What a POST sends. */
  body?: unknown;
  cli?: string | undefined;
}

/** A part of a page, with the request that gave its contents. */
export function Panel({ title, bare, actions, children, request, body, cli }: PanelProps) {
  return (
    <section class="panel" aria-label={title} tabIndex={-1}>
      {!bare && (
        <header>
          <h2>{title}</h2>
          {actions && <div class="actions">{actions}</div>}
        </header>
      )}
      {children}
      {request && <Shown path={request} body={body} cli={cli} />}
    </section>
  );
}

/** The request that a view shows, to run it elsewhere: with a key, or if only the console has it, with a session. */
export function Shown({ path, body, cli }: { path: string; body?: unknown; cli: string | undefined }) {
  const [method, target] = path.startsWith('POST ') ? ['-X POST ', path.slice(5)] : ['', path];
  const own = target.startsWith('/v1') ? '' : `/console/api/${organizationOf(usePlace().path)}`;
  const access = own === '' ? '-H "Authorization: Bearer $API_KEY"' : '-H "X-Console: 1" -b "$COOKIE"';
  const lines = [`curl ${method}${access} '${location.origin}${own}${target}'`];
  if (body !== undefined) lines[0] += ` -H 'Content-Type: application/json' -d ${shellWord(JSON.stringify(body))}`;
  if (cli !== undefined) lines.push(`enterprise-api ${cli}`);
  return (
    <details class="request">
      <summary>
        <span>{m.actions.showRequest}</span> <code>{`${method === '' ? 'GET' : 'POST'} ${own}${target}`}</code>
      </summary>
      <Code label={m.actions.showRequest}>{lines.join('\n')}</Code>
    </details>
  );
}

interface LoadProps<T> {
  query: Query<T>;
  children: (data: T) => ComponentChildren;
}

/** Shows the data, or that it is loading, or why it could not be loaded. */
export function Load<T>({ query, children }: LoadProps<T>) {
  const { data, problem, loading } = query;
  return (
    <div aria-busy={loading} class={loading && data !== undefined ? 'stale' : ''}>
      <Unread query={query} />
      {data === undefined
        ? loading &&
          !problem && (
            <p class="loading" role="status">
              {m.states.loading}
            </p>
          )
        : children(data)}
    </div>
  );
}

/** Why a query has no newer data. The banner of the page says that the session has ended. */
export function Unread({ query: { problem, reload } }: { query: Query<unknown> }) {
  return problem && problem.status !== 401 ? <ProblemNotice problem={problem} retry={reload} /> : null;
}

/** The problem, with the request id to name when asking for help. */
export function ProblemNotice({ problem, retry }: { problem: Problem; retry?: (() => void) | undefined }) {
  const ended = useStore(sessionEnded);
  if (problem.status === 401) return ended ? <Ended /> : null;
  if (problem.code === 'not_found')
    return (
      <div class="notice" role="alert">
        <strong>{m.states.notFound}</strong>
        <p>
          {m.states.notFoundText} <a href={to('')}>{m.states.home}</a>
        </p>
      </div>
    );
  return (
    <div class="notice bad" role="alert">
      <strong>{retry ? m.states.error : m.states.failed}</strong>
      <p>{explain(problem)}</p>
      {problem.status > 0 && (
        <p class="muted">
          {problem.status} <code>{problem.code}</code>
          {problem.requestId && (
            <>
              {' · '}
              {m.states.request} <code>{problem.requestId}</code>
            </>
          )}
        </p>
      )}
      {problem.status === 429 && <Countdown problem={problem} done={retry} />}
      {retry && problem.status !== 429 && problem.status !== 403 && <Button onClick={retry}>{m.states.retry}</Button>}
    </div>
  );
}

function explain({ status, code, requiredScope, message }: Problem): string {
  if (status === 0) return m.states.noAnswer;
  if (code === 'bodies_hidden') return m.states.hidden;
  if (code === 'plan_no_api_access') return m.states.plan;
  return requiredScope ? m.states.forbidden(requiredScope) : message;
}

/** Counts down to the time that a refusal named, then reads again. Another refusal restarts the countdown. */
function Countdown({ problem, done }: { problem: Problem; done: (() => void) | undefined }) {
  const until = useMemo(() => Date.now() + (problem.retryAfter ?? 5) * 1000, [problem]);
  const left = Math.max(0, Math.ceil((until - useNow()) / 1000));
  const isOver = left === 0;
  useEffect(() => {
    if (isOver) done?.();
  }, [isOver, until]);
  return <p>{done ? m.states.limited(left) : m.states.wait(left)}</p>;
}
