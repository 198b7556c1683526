import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { organizationOf, usePlace } from '../router.ts';
import { useStore } from '../store.ts';
import { call, Problem, sessionEnded } from './client.ts';

export interface Query<T> {
  data: T | undefined;
  problem: Problem | undefined;
  loading: boolean;
  reload: () => void;
}

/** Sends a request of this organization: `/v1/…`, `/keys`, `/audit`, `/session`. */
export function useCall(): <T>(method: string, path: string, body?: unknown) => Promise<T> {
  const organization = organizationOf(usePlace().path);
  return useCallback((method, path, body) => call(method, `/${organization}${path}`, body), [organization]);
}

/**
 * Reads a path, and reads it again when it changes. While it is read again, the last answer stays. Once the session has
 * ended, nothing is read until there is another one.
 *
 * @param path undefined: nothing to read yet
 * @param everyMs reads again after this time, while the page is visible
 */
export function useQuery<T>(path: string | undefined, everyMs?: number): Query<T> {
  const organization = organizationOf(usePlace().path);
  const [state, setState] = useState<{ data?: T; problem?: Problem; of?: string | undefined; loading: boolean }>({
    loading: true,
  });
  const ended = useStore(sessionEnded);
  const [turn, setTurn] = useState(0);
  const reload = useCallback(() => setTurn((value) => value + 1), []);
  useEffect(() => {
    if (path === undefined || ended) return;
    const life = new AbortController();
    setState((last) => ({ ...last, loading: true }));
    call<T>('GET', `/${organization}${path}`, undefined, life.signal).then(
      (data) => setState({ data, of: path, loading: false }),
      (problem: unknown) => {
        if (life.signal.aborted) return;
        setState((last) => ({ ...last, problem: problemOf(problem), loading: false }));
      },
    );
    return () => life.abort();
  }, [path, organization, turn, ended]);
  useEvery(everyMs && Math.max(everyMs, refusedMs(state.problem)), reload, state.loading || ended);
  const sameList = state.of?.split('?')[0] === path?.split('?')[0];
  return {
    data: sameList ? state.data : undefined,
    problem: state.problem,
    loading: state.loading && !ended,
    reload,
  };
}

/** How long a limit refuses requests. A countdown, which some pages show, ends a second earlier and asks again itself. */
const refusedMs = (problem: Problem | undefined) =>
  problem?.status === 429 ? ((problem.retryAfter ?? 5) + 1) * 1000 : 0;

/** Calls the function once the time has passed and the page is visible. */
function useEvery(everyMs: number | undefined, act: () => void, wait = false): void {
  useEffect(() => {
    if (everyMs === undefined || wait) return;
    const life = new AbortController();
    const timer = setTimeout(function again() {
      if (document.hidden) document.addEventListener('visibilitychange', again, { once: true, signal: life.signal });
      else act();
    }, everyMs);
    return () => {
      clearTimeout(timer);
      life.abort();
    };
  }, [everyMs, act, wait]);
}

export interface Action<Args extends unknown[]> {
  run: (...args: Args) => void;
  busy: boolean;
  problem: Problem | undefined;
}

/** Runs one action at a time, and keeps its problem. */
export function useAction<Args extends unknown[]>(act: (...args: Args) => Promise<void>): Action<Args> {
  const [state, setState] = useState<{ busy: boolean; problem?: Problem }>({ busy: false });
  const latest = useRef(act);
  latest.current = act;
  const run = useCallback((...args: Args) => {
    setState({ busy: true });
    latest.current(...args).then(
      () => setState({ busy: false }),
      (error: unknown) => {
        setState({ busy: false, problem: problemOf(error) });
      },
    );
  }, []);
  return { run, busy: state.busy, problem: state.problem };
}

/** An incomplete answer counts as no answer. */
const problemOf = (error: unknown) => (error instanceof Problem ? error : new Problem(0, {}, undefined));
