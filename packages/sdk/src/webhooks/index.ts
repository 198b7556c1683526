export { WebhookVerificationError, type WebhookVerificationReason } from './errors.ts';
export type {
  BatchCompletedEvent,
  BatchFailedEvent,
  BatchPartialFailureEvent,
  ConsultationCompletedEvent,
  ConsultationFailedEvent,
  WebhookEvent,
  WebhookEventType,
  WebhookTestEvent,
} from './events.ts';
export type { WebhookHeaders } from './headers.ts';
export { type VerifyWebhookOptions, verifyWebhook } from './verify.ts';
