import { pathOf } from '../http/target.ts';
import type { Operations } from '../operations.ts';
import type { CallOptions, PostOptions } from '../options.ts';
import type { Delivery, DeliveryDetail, ListDeliveries } from '../types.ts';

/** The history of what was sent, or is to be sent, to webhooks. */
export function createDeliveries({ get, list, post }: Operations) {
  return {
    list: (query?: ListDeliveries, options?: CallOptions) =>
      list<Delivery>('/v1/webhooks/deliveries', { ...query }, options),
    /** With its attempts, newest first, and the request as it is sent. */
    get: (id: string, options?: CallOptions) => get<DeliveryDetail>(pathOf`/v1/webhooks/deliveries/${id}`, {}, options),
    /** Sends it again, now, with a fresh retry schedule. */
    retry: (id: string, options?: PostOptions) =>
      post<Delivery>(pathOf`/v1/webhooks/deliveries/${id}/retry`, undefined, options),
  };
}
