import { pathOf } from '../http/target.ts';
import type { Operations } from '../operations.ts';
import type { CallOptions } from '../options.ts';
import type { Event, ListEvents } from '../types.ts';

/** What happened in the organization, whether or not a webhook was told of it. */
export function createEvents({ get, list }: Operations) {
  return {
    /** With `order: 'asc'` every page has a `next_cursor`, from which a later call goes on. */
    list: (query?: ListEvents, options?: CallOptions) => list<Event>('/v1/events', { ...query }, options),
    get: (id: string, options?: CallOptions) => get<Event>(pathOf`/v1/events/${id}`, {}, options),
  };
}
