import { WebhookVerificationError } from './errors.ts';
import type { WebhookEvent } from './events.ts';
import { headerOf, type WebhookHeaders } from './headers.ts';
import { type Bytes, secretsOf, verifyHex, verifyStandard } from './signatures.ts';

const defaultToleranceSeconds = 300;

export interface VerifyWebhookOptions {
  headers: WebhookHeaders;
  /** The body as received, before any JSON parser. Parsing and serializing it again changes the bytes. */
  rawBody: string | Uint8Array | ArrayBuffer;
  /** The webhook's secret, the whole `whsec_…` text. During a rotation, a list of both secrets in any order. */
  secret: string | readonly string[];
  /**
   * How many seconds `webhook-timestamp` may differ from this machine's clock; 300 by default. `X-Service-Signature`
   * has no timestamp. Unless `requireTimestamp` is set, a request with only that signature is accepted at any age.
   */
  toleranceSeconds?: number | undefined;
  /** Refuses requests without the Standard Webhooks headers, because their age is unknown. */
  requireTimestamp?: boolean | undefined;
  /**
   * Also accepts tests of real event types, whose body contains `"test": true`. By default only `webhook.test` is
   * accepted: a test must not start real work.
   */
  allowTests?: boolean | undefined;
  /** The current time, for tests. */
  now?: Date | undefined;
}

/**
 * Verifies a delivery and returns its event. Checks the Standard Webhooks signature if the request has one, otherwise
 * `X-Service-Signature`. A delivery may arrive more than once: compare the event's `id`.
 *
 * It is asynchronous. Without `await`, the code below accepts every request, because a promise is always true:
 *
 * ```ts
 * if (verifyWebhook({ headers, rawBody, secret })) handle(rawBody); // wrong: no await
 * const event = await verifyWebhook({ headers, rawBody, secret }); // right: throws unless genuine
 * ```
 *
 * @throws WebhookVerificationError if the request is not a genuine delivery: answer 401
 * @throws TypeError if the options are invalid: answer 500, and the service sends the delivery again later
 */
export async function verifyWebhook(options: VerifyWebhookOptions): Promise<WebhookEvent> {
  const secrets = secretsOf(options.secret);
  const toleranceSeconds = checkTolerance(options.toleranceSeconds);
  const body = bytesOf(options.rawBody);
  const standard = headerOf(options.headers, 'webhook-signature');
  if (standard !== undefined) {
    const signedAt = await verifyStandard(options.headers, standard, body, secrets);
    if (signedAt === null) throw new WebhookVerificationError('signature_mismatch');
    checkTimestamp(signedAt, toleranceSeconds, options.now ?? new Date());
    return parseEvent(body, options);
  }
  const hex = headerOf(options.headers, 'x-service-signature');
  if (hex === undefined || options.requireTimestamp) throw new WebhookVerificationError('missing_signature');
  if (!(await verifyHex(hex, body, secrets))) throw new WebhookVerificationError('signature_mismatch');
  return parseEvent(body, options);
}

function checkTolerance(toleranceSeconds = defaultToleranceSeconds): number {
  if (toleranceSeconds >= 0) return toleranceSeconds;
  throw new TypeError('toleranceSeconds must be a number of at least 0.');
}

function checkTimestamp(signedAt: number, toleranceSeconds: number, now: Date): void {
  const ageSeconds = now.getTime() / 1_000 - signedAt;
  if (ageSeconds > toleranceSeconds) throw new WebhookVerificationError('timestamp_too_old');
  if (ageSeconds < -toleranceSeconds) throw new WebhookVerificationError('timestamp_too_new');
}

function bytesOf(rawBody: VerifyWebhookOptions['rawBody']): Bytes {
  if (typeof rawBody === 'string') return new TextEncoder().encode(rawBody);
  if (rawBody instanceof ArrayBuffer) return new Uint8Array(rawBody.slice(0));
  // Copies the bytes, because the caller may change them meanwhile, and WebCrypto refuses shared memory.
  if (ArrayBuffer.isView(rawBody))
    return new Uint8Array(rawBody.buffer, rawBody.byteOffset, rawBody.byteLength).slice();
  throw new TypeError('rawBody must be the text or the bytes of the body as they arrived, before any JSON parser.');
}

function parseEvent(body: Bytes, { allowTests = false }: Pick<VerifyWebhookOptions, 'allowTests'>): WebhookEvent {
  const event = parseJson(body);
  if (!isEvent(event)) throw new WebhookVerificationError('invalid_body');
  const isTest = 'test' in event && event.test === true;
  if (isTest && event.type !== 'webhook.test' && !allowTests) throw new WebhookVerificationError('test_not_allowed');
  return event;
}

function parseJson(body: Bytes): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body));
  } catch {
    return undefined;
  }
}

/** Checks the fields that every event has. The sender is verified, and its event types may be newer than these. */
function isEvent(event: unknown): event is WebhookEvent {
  if (typeof event !== 'object' || event === null) return false;
  const { id, type, timestamp, organization_id, data } = event as Record<string, unknown>;
  const texts = [id, type, timestamp, organization_id];
  return texts.every((text) => typeof text === 'string') && typeof data === 'object' && data !== null;
}
