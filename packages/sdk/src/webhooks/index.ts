export { WebhookVerificationError, type WebhookVerificationReason } from './errors.ts';
export type {
  ApiKeyExpiredEvent,
  ApiKeyExpiringEvent,
  BatchCompletedEvent,
  BatchFailedEvent,
  BatchPartialFailureEvent,
  ConsultationCompletedEvent,
  ConsultationFailedEvent,
  ReplayFinishedEvent,
  WebhookDisabledEvent,
  WebhookEvent,
  WebhookEventType,
  WebhookFailingEvent,
  WebhookRecoveredEvent,
  WebhookTestEvent,
} from './events.ts';
export type { WebhookHeaders } from './headers.ts';
export { type VerifyWebhookOptions, verifyWebhook } from './verify.ts';
