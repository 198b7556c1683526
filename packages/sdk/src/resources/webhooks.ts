import { pathOf } from '../http/target.ts';
import type { Operations } from '../operations.ts';
import type { CallOptions, ChangeOptions, PostOptions } from '../options.ts';
import type {
  CreateWebhook,
  Delivery,
  EventTypeEntry,
  ListWebhooks,
  Replay,
  ReplayRequest,
  RotateSecret,
  UpdateWebhook,
  Webhook,
  WebhookWithSecret,
} from '../types.ts';

/** Registered URLs, with the events they subscribe to. */
export function createWebhooks({ get, list, post, patch, delete: remove }: Operations) {
  return {
    /** The answer is the only one that shows the webhook's secret. */
    create: (webhook: CreateWebhook, options?: PostOptions) =>
      post<WebhookWithSecret>('/v1/webhooks', webhook, options),
    list: (query?: ListWebhooks, options?: CallOptions) => list<Webhook>('/v1/webhooks', { ...query }, options),
    get: (id: string, options?: CallOptions) => get<Webhook>(pathOf`/v1/webhooks/${id}`, {}, options),
    /** Changes the named fields only. */
    update: (id: string, changes: UpdateWebhook, options?: ChangeOptions) =>
      patch<Webhook>(pathOf`/v1/webhooks/${id}`, changes, options),
    /** Its pending deliveries are canceled; its history stays readable. */
    delete: (id: string, options?: ChangeOptions) => remove(pathOf`/v1/webhooks/${id}`, options),
    /** Makes a new secret, which only this answer shows; both secrets are in use for an overlap. */
    rotateSecret: (id: string, rotation: RotateSecret = {}, options?: PostOptions) =>
      post<WebhookWithSecret>(pathOf`/v1/webhooks/${id}/rotate-secret`, rotation, options),
    /** Sends a `webhook.test` event to this webhook alone. */
    test: (id: string, options?: PostOptions) => post<Delivery>(pathOf`/v1/webhooks/${id}/test`, undefined, options),
    /** Sends the deliveries of a period again: the failed and canceled ones unless `status` says otherwise. */
    replay: (id: string, period: ReplayRequest, options?: PostOptions) =>
      post<Replay>(pathOf`/v1/webhooks/${id}/replay`, period, options),
    /** What webhooks can subscribe to, each with the schema and an example of its whole body. */
    listEventTypes: (options?: CallOptions) => list<EventTypeEntry>('/v1/webhooks/event-types', {}, options),
  };
}
