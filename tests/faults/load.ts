import { setTimeout as pause } from 'node:timers/promises';
import { toPublicId } from '@enterprise-api/shared/runtime';
import { testInternalSecret } from '@enterprise-api/testkit';

/** What became of one POST of events. */
export interface Posted {
  /** 0: no answer came (refused, reset, cut off). */
  status: number;
  ms: number;
  /** When it was sent, in milliseconds since 1970. */
  at: number;
  events: { id: string; duplicate: boolean }[];
}

/** An event as the internal API takes it, for an organization of the ledger. */
export function apiEvent(organizationId: string, id?: string): Record<string, unknown> {
  const data = { consultation_id: 'con_1', text: 'x'.repeat(200) };
  return {
    organization_id: toPublicId('org', organizationId),
    type: 'consultation.completed',
    data,
    ...(id && { id }),
  };
}

/** Emits events through the internal API, once: what to do after a failure is the caller's part. */
export async function post(internalUrl: string, events: Record<string, unknown>[]): Promise<Posted> {
  const at = Date.now();
  const startedAt = performance.now();
  try {
    const answer = await fetch(`${internalUrl}/internal/v1/events`, {
      method: 'POST',
      headers: { authorization: `Bearer ${testInternalSecret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ events }),
      signal: AbortSignal.timeout(15_000),
    });
    const body = (await answer.json()) as { data?: Posted['events'] };
    return { status: answer.status, ms: performance.now() - startedAt, at, events: body.data ?? [] };
  } catch {
    return { status: 0, ms: performance.now() - startedAt, at, events: [] };
  }
}

/** Emits events where nothing may keep them from being accepted. */
export async function emit(internalUrl: string, organizationId: string, count: number): Promise<Posted> {
  const posted = await post(
    internalUrl,
    Array.from({ length: count }, () => apiEvent(organizationId)),
  );
  if (posted.status !== 202) throw new Error(`The API answered ${posted.status} instead of 202.`);
  return posted;
}

/** Does something at a steady rate until told to stop; what is late is not made up for. */
export interface SteadyLoad extends AsyncDisposable {
  /** Resolves when all that was begun is done. @throws the first error, if there was one */
  stop(): Promise<void>;
}

/** `await using`: a campaign that fails half way must not leave its load behind. */
export function steadily(perSecond: number, act: () => Promise<void>): SteadyLoad {
  const running = new Set<Promise<void>>();
  const errors: unknown[] = [];
  const timer = setInterval(() => {
    const work = act()
      .catch((error: unknown) => void errors.push(error))
      .finally(() => running.delete(work));
    running.add(work);
  }, 1_000 / perSecond);
  const end = async () => {
    clearInterval(timer);
    await Promise.all(running);
  };
  return {
    stop: async () => {
      await end();
      if (errors.length > 0) throw errors[0];
    },
    [Symbol.asyncDispose]: end,
  };
}

/** Works through items with so many at a time. */
export async function inParallel<Item>(
  items: Iterable<Item>,
  width: number,
  act: (item: Item) => Promise<void>,
): Promise<void> {
  const iterator = items[Symbol.iterator]();
  const work = async () => {
    for (let next = iterator.next(); !next.done; next = iterator.next()) await act(next.value);
  };
  await Promise.all(Array.from({ length: width }, work));
}

/** Waits until something holds; a question that fails (a database that is away) counts as no. */
export async function eventually(
  holds: () => Promise<boolean> | boolean,
  withinMs: number,
  what: string,
): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!(await Promise.resolve(holds()).catch(() => false))) {
    if (performance.now() > deadline) throw new Error(`Not so within ${Math.round(withinMs / 1_000)} s: ${what}.`);
    await pause(50);
  }
}

/** The value below which such a part of the values lies. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN);
}
