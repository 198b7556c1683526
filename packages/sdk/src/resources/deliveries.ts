import { pathOf } from '../http/target.ts';
import type { Operations } from '../operations.ts';
import type { CallOptions, PostOptions } from '../options.ts';
import type { Delivery, DeliveryDetail, ListDeliveries } from '../types.ts';

/** The history of deliveries to webhooks, including pending ones. */
export function createDeliveries({ get, list, post }: Operations) {
  return {
    list: (query?: ListDeliveries, options?: CallOptions) =>
      list<Delivery>('/v1/webhooks/deliveries', { ...query }, options),
    /** Includes the attempts, newest first, and the request that is sent. */
    get: (id: string, options?: CallOptions) => get<DeliveryDetail>(pathOf`/v1/webhooks/deliveries/${id}`, {}, options),
    /** Sends the delivery again now, with a new retry schedule. */
    retry: (id: string, options?: PostOptions) =>
      post<Delivery>(pathOf`/v1/webhooks/deliveries/${id}/retry`, undefined, options),
  };
}
