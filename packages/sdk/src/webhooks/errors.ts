/**
 * Why a request is not a delivery to trust.
 *
 * - `missing_signature`: it has neither `webhook-signature` nor `X-Service-Signature`.
 * - `invalid_headers`: `webhook-signature` came without a usable `webhook-id` or `webhook-timestamp`.
 * - `signature_mismatch`: no signature was made of these bytes with one of the secrets.
 * - `timestamp_too_old`, `timestamp_too_new`: the signature is right, but it was made too long ago, or lies ahead: a
 *   replayed request, or a wrong clock.
 * - `invalid_body`: the signature is right, but the body is no event.
 */
export type WebhookVerificationReason =
  | 'missing_signature'
  | 'invalid_headers'
  | 'signature_mismatch'
  | 'timestamp_too_old'
  | 'timestamp_too_new'
  | 'invalid_body';

const messages: Record<WebhookVerificationReason, string> = {
  missing_signature: 'The request has neither a webhook-signature nor an X-Service-Signature header.',
  invalid_headers: 'webhook-signature needs webhook-id and webhook-timestamp (whole seconds since 1970) beside it.',
  signature_mismatch: 'No signature of the request was made of this body with one of these secrets.',
  timestamp_too_old: 'The signature was made too long ago.',
  timestamp_too_new: 'The signature was made in the future.',
  invalid_body: 'The signature is right, but the body is no event.',
};

/** The request is refused: answer 401. `reason` says why. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
  readonly reason: WebhookVerificationReason;

  constructor(reason: WebhookVerificationReason) {
    super(messages[reason]);
    this.reason = reason;
  }
}
