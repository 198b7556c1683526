import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What the server does with one request for the stream. */
export type Plan =
  /** Sends so many bytes and cuts the connection. */
  | { kind: 'cut'; afterBytes: number }
  /** Sends all there is, a hint when to come back, and ends the stream. */
  | { kind: 'end' }
  /** Sends all there is and keeps the connection. */
  | { kind: 'stay' }
  /** Sends the beginning of an answer and keeps the connection. */
  | { kind: 'silent' }
  | { kind: 'refuse'; status: number; code: string };

export interface EventStreamServer extends AsyncDisposable {
  readonly url: string;
  /** Of each request for the stream, in order; null: none was given. */
  readonly lastEventIds: readonly (string | null)[];
  /** The secret of the newest connection. */
  secret(): string;
  readonly events: readonly { id: string; body: string }[];
}

export interface EventStreamServerOptions {
  count: number;
  plan: (connection: number) => Plan;
  /** Changes what is sent for an event. */
  tamper?: (id: string, text: string) => string;
  /** Sends the event before the place that was asked for once more. */
  repeats?: boolean;
}

/** A stream of events as the API has it, which fails as planned; the events are there from the beginning. */
export async function startEventStreamServer(options: EventStreamServerOptions): Promise<EventStreamServer> {
  const { count, plan, tamper = (_id, text) => text, repeats = false } = options;
  const events = Array.from({ length: count }, (_, index) => makeEvent(index));
  const lastEventIds: (string | null)[] = [];
  let secret = '';
  const serve = (request: IncomingMessage, response: ServerResponse) => {
    const given = request.headers['last-event-id'] ?? null;
    const lastEventId = Array.isArray(given) ? (given[0] ?? null) : given;
    lastEventIds.push(lastEventId);
    const step = plan(lastEventIds.length);
    if (step.kind === 'refuse') return answer(response, step.status, refusal(step.code));
    secret = `whsec_${Buffer.from(`connection ${lastEventIds.length}`.padEnd(32)).toString('base64')}`;
    const from =
      lastEventId === null || lastEventId === beginning
        ? 0
        : events.findIndex(({ id }) => id === lastEventId) + (repeats ? 0 : 1);
    const parts = events.slice(from).map(({ id, body }) => tamper(id, eventText(id, body, secret)));
    const text = `: hello\n\nevent: session\ndata: ${JSON.stringify({ secret })}\n\n${parts.join('')}`;
    // No event is there before the stream: a client that begins now gets a place before the first.
    response.writeHead(200, { 'content-type': 'text/event-stream', 'last-event-id': lastEventId ?? beginning });
    if (step.kind === 'silent') return response.flushHeaders();
    if (step.kind === 'cut')
      return void response.write(text.slice(0, step.afterBytes), () => response.socket?.resetAndDestroy());
    response.write(text);
    if (step.kind === 'end') response.end('retry: 1\n\n');
  };
  const server = createServer(serve);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    lastEventIds,
    secret: () => secret,
    events,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The place before the first event. */
const beginning = 'evt_01jd6kz5r8y0000000000000000';

const refusal = (code: string) => ({
  error: { type: 'api_error', code, message: `Refused: ${code}.`, request_id: 'req_1' },
});

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function makeEvent(index: number): { id: string; body: string } {
  const id = `evt_01jd6kz5r8e2v9qxm3c7t4${String(index).padStart(4, '0')}`;
  const event = {
    id,
    type: 'batch.completed',
    timestamp: '2026-11-21T07:00:00.000Z',
    organization_id: 'org_01jd6kz5r8e2v9qxm3c7t4b0na',
    data: { batch_id: `bat_${index}`, note: 'grüße\n🎉' },
  };
  return { id, body: JSON.stringify(event) };
}

/** As the API writes it: one line of JSON with the headers and the body of a delivery. */
function eventText(id: string, body: string, secret: string): string {
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const standard = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  const headers = {
    'Content-Type': 'application/json',
    'User-Agent': 'enterprise-api-webhooks/1.0.0',
    'X-Service-Signature': createHmac('sha256', secret).update(body).digest('hex'),
    'X-Service-Event': 'batch.completed',
    'X-Service-Event-Id': id,
    'X-Service-Delivery-Id': `dlv_${id.slice(4)}`,
    'X-Service-Attempt': '1',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${standard}`,
  };
  return `id: ${id}\ndata: ${JSON.stringify({ headers, body })}\n\n`;
}
