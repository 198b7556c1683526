export type DeliveryHeadersInput = {
  productVersion: string;
  eventId: string;
  eventType: string;
  deliveryId: string;
  attempt: number;
  test: boolean;
  /** The size of the body in bytes; null if the body is no longer stored. */
  contentLength: number | null;
  /** When the attempt was signed, in whole seconds since 1970; null before the first attempt. */
  timestampSeconds: number | null;
};

/**
 * The headers of a delivery, without signatures. The worker sends them, and the API shows them as `request.headers`.
 * Both call this function, so that the headers cannot differ.
 */
export function deliveryHeaders(input: DeliveryHeadersInput): Record<string, string> {
  const headers: Record<string, string> = {
    'Content-Type': 'application/json',
    ...(input.contentLength !== null && { 'Content-Length': String(input.contentLength) }),
    'User-Agent': `enterprise-api-webhooks/${input.productVersion}`,
    'X-Service-Event': input.eventType,
    'X-Service-Event-Id': input.eventId,
    'X-Service-Delivery-Id': input.deliveryId,
    'X-Service-Attempt': String(input.attempt),
    ...(input.test && { 'X-Service-Test': 'true' }),
    'webhook-id': input.eventId,
  };
  if (input.timestampSeconds !== null) headers['webhook-timestamp'] = String(input.timestampSeconds);
  return headers;
}
