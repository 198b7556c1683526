/**
 * Why verification refuses a request.
 *
 * - `missing_signature`: the request has neither `webhook-signature` nor `X-Service-Signature`.
 * - `invalid_headers`: with `webhook-signature`, `webhook-id` or `webhook-timestamp` is missing or invalid.
 * - `signature_mismatch`: no secret produces this signature for these bytes.
 * - `timestamp_too_old`, `timestamp_too_new`: the signature is valid, but its time is not. Either the request was
 *   replayed or a clock is wrong.
 * - `invalid_body`: the signature is valid, but the body is not an event.
 * - `test_not_allowed`: a genuine test of a real event type, which only `allowTests` accepts.
 */
export type WebhookVerificationReason =
  | 'missing_signature'
  | 'invalid_headers'
  | 'signature_mismatch'
  | 'timestamp_too_old'
  | 'timestamp_too_new'
  | 'invalid_body'
  | 'test_not_allowed';

const messages: Record<WebhookVerificationReason, string> = {
  missing_signature: 'The request has neither a webhook-signature nor an X-Service-Signature header.',
  invalid_headers:
    'A request with webhook-signature needs webhook-id and webhook-timestamp (whole seconds since 1970).',
  signature_mismatch:
    'No signature of the request matches this body and these secrets. To find out why, send both to POST /v1/webhooks/{id}/verify-signature (webhooks.verifySignature, enterprise-api webhooks verify).',
  timestamp_too_old: 'The signature is too old.',
  timestamp_too_new: 'The time of the signature is in the future.',
  invalid_body: 'The signature is valid, but the body is not an event.',
  test_not_allowed: 'The event is a test. Set allowTests to accept tests of real event types.',
};

/** The request is not a genuine delivery: answer 401. `reason` names the cause. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
  readonly reason: WebhookVerificationReason;

  constructor(reason: WebhookVerificationReason) {
    super(messages[reason]);
    this.reason = reason;
  }
}
