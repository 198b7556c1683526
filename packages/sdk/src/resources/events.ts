import type { OpenStream } from '../http/open-stream.ts';
import { pathOf } from '../http/target.ts';
import type { Operations } from '../operations.ts';
import type { CallOptions } from '../options.ts';
import { followEvents } from '../stream/follow.ts';
import type { StreamedEvent, StreamOptions } from '../stream/options.ts';
import type { Event, ExplainEvent, Explanation, ListEvents } from '../types.ts';

/** The organization's events, whether or not a webhook received them. */
export function createEvents({ get, list }: Operations, open: OpenStream) {
  return {
    /** With `order: 'asc'`, every page has a `next_cursor` from which a later call continues. */
    list: (query?: ListEvents, options?: CallOptions) => list<Event>('/v1/events', { ...query }, options),
    get: (id: string, options?: CallOptions) => get<Event>(pathOf`/v1/events/${id}`, {}, options),
    /** Why each webhook got the event, or did not. */
    explain: (id: string, query?: ExplainEvent, options?: CallOptions) =>
      get<Explanation>(pathOf`/v1/events/${id}/explain`, { ...query }, options),
    /** Yields events as they happen. Reconnects without gaps or repetitions; see `StreamOptions`. */
    stream: (options?: StreamOptions): AsyncGenerator<StreamedEvent> => followEvents({ open }, options),
  };
}
