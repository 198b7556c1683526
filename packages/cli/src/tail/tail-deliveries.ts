import { setTimeout as pause } from 'node:timers/promises';
import type { Delivery, EnterpriseApi } from '@enterprise-api/sdk';
import type { Context } from '../context.ts';
import { isTemporary } from '../explain.ts';

export interface TailFilter {
  webhook_id?: string;
  event_id?: string;
  event_type?: string[];
  status?: string[];
  /** RFC 3339. Shows deliveries created since then; by default only new ones. */
  since?: string;
}

export interface TailOptions {
  /** Interval of the polls. */
  everyMs?: number;
}

/** Each poll reads the last minute again, because a delivery may be committed after a delivery that was created later. */
const overlapMs = 60_000;
/** Each poll reads at most this many older pending deliveries, one by one. */
const askedPerLook = 10;
/** Beyond this many, the tail forgets the oldest known delivery. */
const known = 20_000;

/**
 * Yields each new delivery, and again whenever its status or number of attempts changes, until the delivery completes.
 * `since` includes earlier deliveries. Ends on an interruption, and continues while the API is temporarily unreachable.
 */
export async function* tailDeliveries(
  api: Pick<EnterpriseApi, 'deliveries'>,
  { status: statuses, ...filter }: TailFilter,
  { io, printer }: Pick<Context, 'io' | 'printer'>,
  { everyMs = 2_000 }: TailOptions = {},
): AsyncGenerator<Delivery> {
  // Filters here and not in the API. With the API's filter, the tail would miss a delivery that reaches the status
  // hours later.
  const isShown = ({ status }: Delivery) => statuses === undefined || statuses.includes(status);
  const onBegin = () => printer.note('Waiting for deliveries. Ctrl-C ends it.', 'dim');
  const look = createLook(api, filter, { signal: io.signal, onBegin });
  while (!io.signal.aborted) {
    try {
      for await (const delivery of look()) if (isShown(delivery)) yield delivery;
    } catch (error) {
      if (io.signal.aborted || !isTemporary(error)) throw error;
      printer.note(`${error instanceof Error ? error.message : String(error)} Trying again.`);
    }
    await pause(everyMs, undefined, { signal: io.signal }).catch(() => undefined);
  }
}

interface LookOptions {
  signal: AbortSignal;
  /** Called once, when the tail prints every later delivery. */
  onBegin: () => void;
}

/** Polls once for new and changed deliveries. */
function createLook(api: Pick<EnterpriseApi, 'deliveries'>, filter: TailFilter, { signal, onBegin }: LookOptions) {
  let hasBegun = false;
  const seen = new Map<string, { state: string; isPending: boolean }>();
  let newestMs = filter.since === undefined ? undefined : Date.parse(filter.since);
  const isNews = (delivery: Delivery): boolean => {
    const state = `${delivery.status} ${delivery.attempt_count}`;
    const before = seen.get(delivery.id);
    seen.delete(delivery.id);
    seen.set(delivery.id, { state, isPending: delivery.status === 'pending' });
    const [oldest] = seen.keys();
    if (seen.size > known && oldest !== undefined) seen.delete(oldest);
    newestMs = Math.max(newestMs ?? 0, Date.parse(delivery.created_at));
    return before?.state !== state;
  };
  return async function* look(): AsyncGenerator<Delivery> {
    if (newestMs === undefined) {
      // At the start, prints no existing deliveries. The newest one's time, by the API's clock, is where the tail
      // begins.
      const { data } = await api.deliveries.list({ ...filter, limit: 100 }, { signal }).page();
      newestMs = 0;
      for (const delivery of data) isNews(delivery);
    }
    if (!hasBegun) onBegin();
    hasBegun = true;
    const read = new Set<string>();
    const since = new Date(Math.max(0, newestMs - overlapMs)).toISOString();
    for await (const delivery of api.deliveries.list({ ...filter, since, order: 'asc', limit: 100 }, { signal })) {
      read.add(delivery.id);
      if (isNews(delivery)) yield delivery;
    }
    const waiting = [...seen].filter(([id, { isPending }]) => isPending && !read.has(id)).slice(0, askedPerLook);
    for (const [id] of waiting) {
      const delivery = await api.deliveries.get(id, { signal });
      if (isNews(delivery)) yield delivery;
    }
  };
}
