import type { components } from '../generated/openapi.ts';

type Schemas = components['schemas'];

export type BatchCompletedEvent = Schemas['BatchCompletedEvent'];
export type BatchFailedEvent = Schemas['BatchFailedEvent'];
export type BatchPartialFailureEvent = Schemas['BatchPartialFailureEvent'];
export type ConsultationCompletedEvent = Schemas['ConsultationCompletedEvent'];
export type ConsultationFailedEvent = Schemas['ConsultationFailedEvent'];
export type WebhookTestEvent = Schemas['WebhookTestEvent'];

/**
 * The body of a delivery; `type` tells what `data` has. It is the same on every attempt, so `id` recognizes an event that
 * was delivered before. A newer service may send types that this version does not know: answer 2xx to those too (`default`
 * of a switch).
 */
export type WebhookEvent =
  | BatchCompletedEvent
  | BatchFailedEvent
  | BatchPartialFailureEvent
  | ConsultationCompletedEvent
  | ConsultationFailedEvent
  | WebhookTestEvent;

/** The type of an event, `webhook.test` included. */
export type WebhookEventType = WebhookEvent['type'];
