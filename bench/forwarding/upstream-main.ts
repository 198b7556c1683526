import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { answerCalls } from '@enterprise-api/testkit/peer-calls';

// The upstream: a path that ends in `/bytes/<n>` is answered with n bytes, one that ends in `/events` with an event a
// second without end, everything else with `{}` once the request has been read. It is a
// process of its own, so that its work is not counted.
export type UpstreamCalls = { port: (_: null) => number };

const chunk = Buffer.alloc(64 * 1024, 'x');

function* bytes(count: number): Generator<Buffer> {
  for (let left = count; left > 0; left -= chunk.length) yield chunk.subarray(0, Math.min(left, chunk.length));
}

function sendEvents(response: ServerResponse): void {
  response.writeHead(200, { 'Content-Type': 'text/event-stream' });
  const send = () => response.write('data: {"type":"tick"}\n\n');
  send();
  const timer = setInterval(send, 1_000);
  response.once('close', () => clearInterval(timer));
}

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  if (request.url?.endsWith('/events')) return sendEvents(response);
  const count = /\/bytes\/(\d+)$/.exec(request.url ?? '')?.[1];
  if (count !== undefined) {
    response.writeHead(200, { 'Content-Length': count });
    Readable.from(bytes(Number(count))).pipe(response);
    return;
  }
  request.resume().once('end', () => {
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': 2 }).end('{}');
  });
});
await once(server.listen(0, '127.0.0.1'), 'listening');
answerCalls({ port: () => (server.address() as AddressInfo).port } satisfies UpstreamCalls);
