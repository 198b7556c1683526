import { createHmac } from 'node:crypto';
import type { StreamedEvent } from '@enterprise-api/sdk';
import { Failure } from '../failure.ts';

/** Signs events again with a fixed secret, so that the local program can keep one secret across connections. */
export type Signer = (message: StreamedEvent) => StreamedEvent;

/**
 * @param secret a webhook secret (`whsec_…`)
 * @throws {Failure} if it is not a webhook secret
 */
export function createSigner(secret: string): Signer {
  const encoded = /^whsec_([A-Za-z0-9+/]{32,}={0,2})$/.exec(secret)?.[1];
  if (encoded === undefined) {
    throw new Failure(
      'usage',
      'ENTERPRISE_API_LISTEN_SECRET is not a signing secret.',
      'It must be whsec_ followed by at least 24 bytes in base64.',
    );
  }
  const standardKey = Buffer.from(encoded, 'base64');
  return ({ headers, body, ...message }) => {
    const signed = Object.entries(headers).map(([name, value]) => {
      if (name.toLowerCase() === 'x-service-signature')
        return [name, createHmac('sha256', secret).update(body).digest('hex')];
      if (name.toLowerCase() !== 'webhook-signature') return [name, value];
      const content = `${headerOf(headers, 'webhook-id')}.${headerOf(headers, 'webhook-timestamp')}.${body}`;
      return [name, `v1,${createHmac('sha256', standardKey).update(content).digest('base64')}`];
    });
    return { ...message, headers: Object.fromEntries(signed), body };
  };
}

/** Header names are case-insensitive. */
export function headerOf(headers: StreamedEvent['headers'], name: string): string | undefined {
  return Object.entries(headers).find(([each]) => each.toLowerCase() === name)?.[1];
}
