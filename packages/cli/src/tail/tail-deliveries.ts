import { setTimeout as pause } from 'node:timers/promises';
import type { Delivery, EnterpriseApi } from '@enterprise-api/sdk';
import type { Context } from '../context.ts';
import { isTemporary } from '../explain.ts';

export interface TailFilter {
  webhook_id?: string;
  event_id?: string;
  event_type?: string[];
  status?: string[];
  /** RFC 3339: created from then on, instead of from now on. */
  since?: string;
}

export interface TailOptions {
  /** The pause between two looks. */
  everyMs?: number;
}

/** Deliveries may be committed a little after others that were created later: the last minute is read again. */
const overlapMs = 60_000;
/** Pending deliveries that are older than what a look reads are asked for one by one, so many in each look. */
const askedPerLook = 10;
/** The oldest known delivery is forgotten beyond this many. */
const known = 20_000;

/**
 * Deliveries that are created from now on (or from `since` on), each when it is first seen and again when its status or
 * its number of attempts has changed, until it is completed. Ends when the command is interrupted; goes on when the API
 * cannot be reached for a while.
 */
export async function* tailDeliveries(
  api: Pick<EnterpriseApi, 'deliveries'>,
  { status: statuses, ...filter }: TailFilter,
  { io, printer }: Pick<Context, 'io' | 'printer'>,
  { everyMs = 2_000 }: TailOptions = {},
): AsyncGenerator<Delivery> {
  // Not asked of the API: a delivery that comes to a status hours after its creation would not be found.
  const isWanted = ({ status }: Delivery) => statuses === undefined || statuses.includes(status);
  const look = createLook(api, filter, io.signal);
  while (!io.signal.aborted) {
    try {
      for await (const delivery of look()) if (isWanted(delivery)) yield delivery;
    } catch (error) {
      if (io.signal.aborted || !isTemporary(error)) throw error;
      printer.note(`${error instanceof Error ? error.message : String(error)} Trying again.`);
    }
    await pause(everyMs, undefined, { signal: io.signal }).catch(() => undefined);
  }
}

/** One look at what is new or has changed since the look before. */
function createLook(api: Pick<EnterpriseApi, 'deliveries'>, filter: TailFilter, signal: AbortSignal) {
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
      // What there is at the start is not printed; its time, by the API's clock, is where the tail begins.
      newestMs = 0;
      const { data } = await api.deliveries.list({ ...filter, limit: 100 }, { signal }).page();
      for (const delivery of data) isNews(delivery);
    }
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
