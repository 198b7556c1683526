import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import { buffer } from 'node:stream/consumers';
import { verifyWebhook, WebhookVerificationError } from '@enterprise-api/sdk/webhooks';

/** A delivery that arrived. */
export interface Arrival {
  eventId: string;
  deliveryId: string;
  eventType: string;
  /** The consultation or batch that the event is about; undefined when the body does not say. */
  workId: string | undefined;
  attempt: number;
  /** Whether the delivery was signed with the webhook's secret, and not long ago. */
  verified: boolean;
  /** The body's size, in bytes. */
  bytes: number;
  at: Date;
}

export interface DemoReceiver extends AsyncDisposable {
  readonly url: string;
  /** The secret to verify with from now on. Before the first call, deliveries are answered with 503 and sent again. */
  setSecret(secret: string): void;
}

export interface DemoReceiverOptions {
  /** Default: 127.0.0.1. */
  host?: string;
  port: number;
  cert: string;
  key: string;
  onArrival: (arrival: Arrival) => void;
}

const path = '/webhooks';

/** A customer's endpoint: HTTPS, verifies the signature of each delivery, records it, then answers. */
export async function startDemoReceiver(options: DemoReceiverOptions): Promise<DemoReceiver> {
  let secret: string | undefined;
  const server = createServer({ cert: options.cert, key: options.key }, (request, response) => {
    receive(request, response, secret, options.onArrival).catch(() => response.destroy());
  });
  await once(server.listen(options.port, options.host ?? '127.0.0.1'), 'listening');
  return {
    url: `https://127.0.0.1:${options.port}${path}`,
    setSecret: (value) => {
      secret = value;
    },
    [Symbol.asyncDispose]: () => close(server),
  };
}

async function receive(
  request: IncomingMessage,
  response: ServerResponse,
  secret: string | undefined,
  onArrival: DemoReceiverOptions['onArrival'],
): Promise<void> {
  if (request.method !== 'POST' || request.url !== path) {
    response.writeHead(404).end('This is the demo receiver; deliveries come as POST to /webhooks.\n');
    return;
  }
  const body = await buffer(request);
  if (secret === undefined) {
    response.writeHead(503, { 'retry-after': '1' }).end();
    return;
  }
  const header = (name: string) => String(request.headers[name] ?? '');
  const verified = await isVerified(request, body, secret);
  onArrival({
    eventId: header('x-service-event-id'),
    deliveryId: header('x-service-delivery-id'),
    eventType: header('x-service-event'),
    workId: workIdOf(body),
    attempt: Number(header('x-service-attempt')),
    verified,
    bytes: body.length,
    at: new Date(),
  });
  response.writeHead(verified ? 204 : 401).end();
}

function workIdOf(body: Buffer): string | undefined {
  try {
    const { data } = JSON.parse(body.toString());
    return data.consultation_id ?? data.batch_id;
  } catch {
    return undefined;
  }
}

async function isVerified({ headers }: IncomingMessage, rawBody: Buffer, secret: string): Promise<boolean> {
  try {
    await verifyWebhook({ headers, rawBody, secret, allowTests: true });
    return true;
  } catch (error) {
    if (error instanceof WebhookVerificationError) return false;
    throw error;
  }
}

async function close(server: Server): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeAllConnections();
  await closed;
}
