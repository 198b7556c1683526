import type { components } from '../generated/openapi.ts';

type Schemas = components['schemas'];

export type BatchCompletedEvent = Schemas['BatchCompletedEvent'];
export type BatchFailedEvent = Schemas['BatchFailedEvent'];
export type BatchPartialFailureEvent = Schemas['BatchPartialFailureEvent'];
export type ConsultationCompletedEvent = Schemas['ConsultationCompletedEvent'];
export type ConsultationFailedEvent = Schemas['ConsultationFailedEvent'];
export type WebhookTestEvent = Schemas['WebhookTestEvent'];

/**
 * The body of a delivery. `type` determines the fields of `data`. Every attempt sends the same body, so `id` detects a
 * repeated delivery. A newer service may send unknown types: answer them with 2xx too (`default` of a switch).
 */
export type WebhookEvent =
  | BatchCompletedEvent
  | BatchFailedEvent
  | BatchPartialFailureEvent
  | ConsultationCompletedEvent
  | ConsultationFailedEvent
  | WebhookTestEvent;

/** The type of an event, including `webhook.test`. */
export type WebhookEventType = WebhookEvent['type'];
