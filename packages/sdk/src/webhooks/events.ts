import type { components } from '../generated/openapi.ts';

type Schemas = components['schemas'];

export type ApiKeyExpiredEvent = Schemas['ApiKeyExpiredEvent'];
export type ApiKeyExpiringEvent = Schemas['ApiKeyExpiringEvent'];
export type BatchCompletedEvent = Schemas['BatchCompletedEvent'];
export type BatchFailedEvent = Schemas['BatchFailedEvent'];
export type BatchPartialFailureEvent = Schemas['BatchPartialFailureEvent'];
export type ConsultationCompletedEvent = Schemas['ConsultationCompletedEvent'];
export type ConsultationFailedEvent = Schemas['ConsultationFailedEvent'];
export type ReplayFinishedEvent = Schemas['ReplayFinishedEvent'];
export type WebhookDisabledEvent = Schemas['WebhookDisabledEvent'];
export type WebhookFailingEvent = Schemas['WebhookFailingEvent'];
export type WebhookRecoveredEvent = Schemas['WebhookRecoveredEvent'];
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
  | ApiKeyExpiredEvent
  | ApiKeyExpiringEvent
  | ReplayFinishedEvent
  | WebhookDisabledEvent
  | WebhookFailingEvent
  | WebhookRecoveredEvent
  | WebhookTestEvent;

/** The type of an event, including `webhook.test`. */
export type WebhookEventType = WebhookEvent['type'];
