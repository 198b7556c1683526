/**
 * The body of every delivery of an event. It has the same bytes on every attempt, so `id` recognizes an event that was
 * delivered before.
 */
interface EventBody<Type extends string, Data> {
  /** `evt_…` */
  id: string;
  type: Type;
  /** When the event occurred or, if its producer did not say, was accepted: RFC 3339, UTC, milliseconds. */
  timestamp: string;
  /** `org_…` */
  organization_id: string;
  /** Beyond the named fields, whatever the event's producer says. */
  data: Data & Record<string, unknown>;
}

/** A consultation finished successfully. */
export type ConsultationCompletedEvent = EventBody<'consultation.completed', { consultation_id: string }>;

/** A consultation failed. */
export type ConsultationFailedEvent = EventBody<'consultation.failed', { consultation_id: string }>;

/** All items in a batch completed. */
export type BatchCompletedEvent = EventBody<'batch.completed', { batch_id: string }>;

/** A batch failed entirely. */
export type BatchFailedEvent = EventBody<'batch.failed', { batch_id: string }>;

/** A batch completed with some failed items. */
export type BatchPartialFailureEvent = EventBody<'batch.partial_failure', { batch_id: string }>;

/** Sent by the test endpoint to one webhook alone. */
export type WebhookTestEvent = EventBody<'webhook.test', { webhook_id: string }>;

/**
 * Every event that a webhook receives; `type` tells them apart. A newer service may send types that this version does
 * not know: answer 2xx to those too (`default` of a switch).
 */
export type WebhookEvent =
  | ConsultationCompletedEvent
  | ConsultationFailedEvent
  | BatchCompletedEvent
  | BatchFailedEvent
  | BatchPartialFailureEvent
  | WebhookTestEvent;

/** The type of an event, `webhook.test` included. */
export type WebhookEventType = WebhookEvent['type'];
