import { deliveryHeaders } from '@enterprise-api/shared/contracts';
import { toPublicId } from '@enterprise-api/shared/runtime';
import { signBody, signStandard } from '@enterprise-api/shared/security';
import type { Lease } from '../leases/lease.ts';
import type { DeliveryRequest } from '../sender/send.ts';
import type { SigningKeys, WebhookConfig } from '../webhooks/webhook-cache.ts';

/**
 * The request of one attempt, with its signatures. During the overlap of a rotation `X-Service-Signature` is made with
 * the old secret, so that a receiver that knows only this header has time to switch, and `webhook-signature` carries
 * both, the new one first.
 */
export function buildRequest(productVersion: string, begun: RequestParts, keys: SigningKeys): DeliveryRequest {
  const { lease, webhook, startedAt } = begun;
  const { body } = lease;
  const eventId = toPublicId('evt', lease.eventId);
  const timestampSeconds = Math.floor(startedAt.getTime() / 1_000);
  const headers = deliveryHeaders({
    productVersion,
    eventId,
    eventType: lease.eventType,
    deliveryId: toPublicId('dlv', lease.deliveryId),
    attempt: lease.number,
    contentLength: body.length,
    timestampSeconds,
  });
  const old = keys.previous !== null && startedAt.getTime() < keys.previous.expiresAt ? keys.previous.key : null;
  headers['X-Service-Signature'] = signBody(old ?? keys.current, body);
  const signatures = [signStandard(keys.current, eventId, timestampSeconds, body)];
  if (old !== null) signatures.push(signStandard(old, eventId, timestampSeconds, body));
  headers['webhook-signature'] = signatures.join(' ');
  return { url: webhook.url, headers, body };
}

/** What a request is made of. Its body is the same bytes on every attempt of the event. */
type RequestParts = {
  lease: Pick<Lease, 'eventId' | 'eventType' | 'deliveryId' | 'number' | 'body'>;
  webhook: Pick<WebhookConfig, 'url'>;
  startedAt: Date;
};
