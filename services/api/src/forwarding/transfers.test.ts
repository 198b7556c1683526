import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer as createPlainServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createCertificateAuthority } from '@enterprise-api/testkit';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createForwardingFixture, type ForwardingFixture } from '../testing/forwarding-fixture.ts';

const content = randomBytes(24 * 1_024 * 1_024);
const digest = createHash('sha256').update(content).digest('hex');
/** Pieces of single bytes, of parts of a read, and of several reads. */
const pieceSizes = [1, 700, 5_000, 20_000, 40_000, 65_536, 200_000];

let closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.reverse()) await close();
  closing = [];
});

function* pieces(): Generator<Buffer> {
  for (let start = 0, nth = 0; start < content.length; nth++) {
    const end = start + (pieceSizes[nth % pieceSizes.length] ?? 1);
    yield content.subarray(start, end);
    start = end;
  }
}

/** Reads at the pace of a client that is slower than the upstream, so that both backpressure and free flow occur. */
async function digestOf(message: IncomingMessage): Promise<string> {
  const hash = createHash('sha256');
  let chunks = 0;
  for await (const chunk of message) {
    hash.update(chunk as Buffer);
    if (++chunks % 10 < 5) await nextTurn();
  }
  return hash.digest('hex');
}

/** Answers a GET with the content, and anything else with the digest of what it got. */
async function serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
  if (message.method !== 'GET') return void response.end(await digestOf(message));
  if (message.url?.endsWith('length')) response.setHeader('Content-Length', content.length);
  await pipeline(Readable.from(pieces()), response);
}

async function startFixture(isSecure: boolean): Promise<ForwardingFixture> {
  const authority = await createCertificateAuthority();
  const listener = (message: IncomingMessage, response: ServerResponse) => void serve(message, response);
  const upstream = isSecure
    ? createTlsServer(await authority.issue({ hosts: ['127.0.0.1'] }), listener)
    : createPlainServer(listener);
  await once(upstream.listen(0, '127.0.0.1'), 'listening');
  closing.push(() => new Promise((resolve) => upstream.close(resolve)));
  const base = () => `http${isSecure ? 's' : ''}://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  const fixture = await createForwardingFixture({ base, ca: authority.certificate, limits: { maxBodyBytes: 2 ** 30 } });
  closing.push(() => fixture.close());
  return fixture;
}

async function exchange(fixture: ForwardingFixture, method: string, framing: 'length' | 'chunks'): Promise<string> {
  const outgoing = request(`${fixture.listener.url}/v1/consultations/${framing}`, { method, agent: false });
  const answered = once(outgoing, 'response') as Promise<[IncomingMessage]>;
  if (method === 'GET') outgoing.end();
  else {
    if (framing === 'length') outgoing.setHeader('Content-Length', content.length);
    await pipeline(Readable.from(pieces()), outgoing);
  }
  const [answer] = await answered;
  if (method === 'GET') return digestOf(answer);
  return (await answer.toArray()).join('');
}

describe.each([
  ['plain', false],
  ['secure', true],
])('large bodies over a %s connection to the upstream, several at once', (_, isSecure) => {
  it('arrive byte for byte in both directions, framed by their length and in chunks', async () => {
    const fixture = await startFixture(isSecure);
    const all = ['GET', 'POST'].flatMap((method) => [
      exchange(fixture, method, 'length'),
      exchange(fixture, method, 'chunks'),
    ]);
    expect(await Promise.all(all)).toEqual([digest, digest, digest, digest]);
    expect(fixture.outcomes).toEqual(Array(4).fill('answered'));
  });
});
