import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { answerCalls } from '@enterprise-api/testkit/peer-calls';

// The upstream: `/bytes/<n>` answers with n bytes, everything else with `{}` once the request has been read. It is a
// process of its own, so that its work is not counted.
export type UpstreamCalls = { port: (_: null) => number };

const chunk = Buffer.alloc(64 * 1024, 'x');

function* bytes(count: number): Generator<Buffer> {
  for (let left = count; left > 0; left -= chunk.length) yield chunk.subarray(0, Math.min(left, chunk.length));
}

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  const count = /^\/bytes\/(\d+)$/.exec(request.url ?? '')?.[1];
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
