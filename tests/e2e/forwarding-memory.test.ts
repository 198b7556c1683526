import { once } from 'node:events';
import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import { createApiCustomer, openStage, residentMemory } from '@enterprise-api/testkit';
import { expect, it } from '@jest/globals';

const gib = 1_024 ** 3;
const maxGrowthBytes = 64 * 1_024 ** 2;
const piece = Buffer.alloc(256 * 1_024, 'x');

function* body(bytes: number): Generator<Buffer> {
  for (let left = bytes; left > 0; left -= piece.length) yield piece.subarray(0, left);
}

/** Answers `…/<n>` with so many bytes, and a POST once it has been read. */
async function startUpstream() {
  const server = createServer((incoming, response) => {
    const bytes = Number(incoming.url?.split('/').at(-1));
    if (incoming.method === 'GET') pipeline(Readable.from(body(bytes)), response).catch(() => undefined);
    else incoming.resume().once('end', () => response.end());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const close = async () => {
    const closed = once(server, 'close');
    server.close().closeAllConnections();
    await closed;
  };
  return { url: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: close };
}

async function transfer(method: 'GET' | 'POST', apiUrl: string, key: string, bytes: number): Promise<number> {
  const outgoing = request(`${apiUrl}/v1/consultations/${bytes}`, { method, agent: false });
  outgoing.setHeader('Authorization', `Bearer ${key}`);
  const answered = once(outgoing, 'response') as Promise<[IncomingMessage]>;
  if (method === 'GET') outgoing.end();
  else await pipeline(Readable.from(body(bytes)), outgoing);
  const [answer] = await answered;
  let received = 0;
  answer.on('data', (chunk: Buffer) => {
    received += chunk.length;
  });
  await finished(answer);
  expect(answer.statusCode).toBe(200);
  return received;
}

it('one GiB each way makes the memory of the API grow by at most 64 MiB', async () => {
  await using upstream = await startUpstream();
  await using stage = await openStage({ redisUrl: undefined });
  const settings = { API_UPSTREAMS: `consultations=${upstream.url}`, API_UPSTREAM_MAX_BODY: '1GiB' };
  const api = await stage.startApi(settings);
  const { key } = await createApiCustomer(api);
  // The heap grows with the first requests of any kind.
  for (let nth = 0; nth < 100; nth++) await transfer(nth % 2 === 0 ? 'GET' : 'POST', api.url, key, 1_024);
  const before = residentMemory(api.pid).peak;
  expect(await transfer('GET', api.url, key, gib)).toBe(gib);
  expect(await transfer('POST', api.url, key, gib)).toBe(0);
  expect(residentMemory(api.pid).peak - before).toBeLessThanOrEqual(maxGrowthBytes);
});
