import { once } from 'node:events';
import type { IncomingMessage, RequestListener } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createLogger } from '@enterprise-api/shared/runtime';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type Listener, type ListenerLimits, listen } from './listener.ts';

/** A slow client reaches these soon. */
const shortLimits: ListenerLimits = {
  headersMs: 300,
  requestMs: 600,
  keepAliveMs: 300,
  silentMs: 1_000,
  checkEveryMs: 50,
  connections: 6,
  connectionsPerPeer: 3,
};
/** Nobody reaches these times, on a busy machine either. */
const longLimits = { ...shortLimits, headersMs: 30_000, requestMs: 30_000, keepAliveMs: 30_000, silentMs: 30_000 };
/** Twenty of these are more than the kernel takes for a client that reads nothing. */
const large = Buffer.alloc(1024 * 1024);
const sockets: Socket[] = [];
let listener: Listener;

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await listener.close();
});

async function start({
  limits = shortLimits,
  trustedProxies = [],
  onServed = () => undefined,
}: {
  limits?: ListenerLimits | 'usual';
  trustedProxies?: readonly string[];
  onServed?: (request: IncomingMessage) => void;
} = {}): Promise<void> {
  const log = createLogger('test', 'silent');
  const place = { host: '127.0.0.1', port: 0, setting: 'nothing', trustedProxies, log };
  const serve: RequestListener = (request, response) => {
    request.resume().on('end', () => {
      onServed(request);
      response.end(request.url === '/large' ? large : 'ok');
    });
  };
  listener = await listen(serve, place, limits === 'usual' ? undefined : limits);
}

/** A connection, and all that came over it until it was closed. */
async function open(
  localAddress = '127.0.0.1',
  { allowHalfOpen = false } = {},
): Promise<{ socket: Socket; closed: Promise<string> }> {
  const port = Number(new URL(listener.url).port);
  const socket = connect({ host: '127.0.0.1', port, localAddress, allowHalfOpen });
  sockets.push(socket.on('error', () => undefined));
  let text = '';
  socket.on('data', (chunk) => {
    text += String(chunk);
  });
  const closed = once(socket, 'close').then(() => text);
  await once(socket, 'connect');
  return { socket, closed };
}

const question = 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';

/** One request on a connection of its own; empty when that is closed instead. */
async function askOnce(localAddress?: string): Promise<string> {
  const { socket, closed } = await open(localAddress);
  socket.write(question);
  return closed;
}

/**
 * Asks on new connections until one is served: not closed for want of a place, and not too slow on a busy machine.
 *
 * @returns the body
 */
async function askUntilServed(ask: () => Promise<string> = askOnce): Promise<string | undefined> {
  let answer = '';
  while (!answer.startsWith('HTTP/1.1 200 ')) answer = await ask();
  return answer.split('\r\n\r\n').at(-1);
}

const head = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n';

describe('a slow client', () => {
  it.each([
    ['with the head', 'POST / HTTP/1.1\r\nHost: x\r\n', 'x-a: b\r\n'],
    ['with the body', `${head}\r\n`, 'x'],
  ])('%s gets 408 and is disconnected, although it keeps sending', async (_, first, again) => {
    await start();
    const { socket, closed } = await open();
    socket.write(first);
    const dripping = setInterval(() => socket.write(again), 20);
    const answer = await closed.finally(() => clearInterval(dripping));
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    expect(answer).toMatch(/\r\nConnection: close\r\n/);
    expect(answer).toMatch(/\r\nX-Request-Id: req_/);
    expect(answer).toContain('"code":"request_timeout"');
  });

  it('that completes its request after its 408 is not served', async () => {
    const served: unknown[] = [];
    await start({ onServed: (request) => served.push(request.method) });
    const { socket, closed } = await open();
    socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\na`);
    await once(socket, 'data');
    socket.write('b');
    socket.write(question);
    expect(await closed).toMatch(/^HTTP\/1\.1 408 /);
    expect(served).toEqual([]);
  });

  it('that never ends its side of the connection is disconnected', async () => {
    await start();
    for (let count = 0; count < 3; count++) {
      const { socket } = await open('127.0.0.1', { allowHalfOpen: true });
      socket.write('POST / HTTP/1.1\r\n');
    }
    expect(await askUntilServed()).toBe('ok');
  });

  it('that does not read its answers is disconnected', async () => {
    await start();
    for (let count = 0; count < 3; count++) {
      const { socket } = await open();
      socket.pause().write('GET /large HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(20));
    }
    expect(await askUntilServed()).toBe('ok');
  });

  it('is disconnected when it sends nothing at all, or nothing after its first request', async () => {
    await start();
    const silent = await open();
    const askAndStay = async () => {
      const { socket, closed } = await open();
      socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
      return closed;
    };
    expect(await askUntilServed(askAndStay)).toBe('ok');
    await silent.closed;
  });
});

describe('connections', () => {
  it('that are idle stay open for as long as the answer announces', async () => {
    await start({ limits: { ...longLimits, keepAliveMs: 1_000 } });
    const { socket, closed } = await open();
    const askedAt = performance.now();
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    expect(await closed).toMatch(/\r\nKeep-Alive: timeout=1\r\n/);
    expect(performance.now() - askedAt).toBeGreaterThanOrEqual(1_000);
  });

  it('are kept idle for 65 s unless told otherwise, as docs/customers/call-the-api.md says', async () => {
    await start({ limits: 'usual' });
    const { socket } = await open();
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toMatch(/\r\nKeep-Alive: timeout=65\r\n/);
  });

  it('beyond the limit of one peer are closed; other peers are served', async () => {
    await start({ limits: longLimits });
    for (let count = 0; count < 3; count++) await open();
    expect(await (await open()).closed).toBe('');
    expect(await askOnce('127.0.0.2')).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('that have ended no longer count', async () => {
    await start({ limits: longLimits });
    const { socket } = await open();
    await open();
    await open();
    socket.destroy();
    // Our end knows of it before the other one does.
    expect(await askUntilServed()).toBe('ok');
  });

  it('of a trusted proxy count towards the total limit only', async () => {
    await start({ limits: longLimits, trustedProxies: ['127.0.0.0/8'] });
    for (let count = 0; count < 5; count++) await open();
    const last = await open();
    expect(await (await open()).closed).toBe('');
    last.socket.write(question);
    expect(await last.closed).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe('a stop', () => {
  /** Lets timers become due before the event loop takes what has arrived, as on a machine that stood still. */
  const standStill = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

  it('answers a request on a connection that the kernel had accepted', async () => {
    await start({ limits: longLimits });
    const asked = askOnce();
    const stopped = listener.close();
    expect(await asked).toMatch(/^HTTP\/1\.1 200 /);
    await stopped;
  });

  it('answers a request that arrived on an idle connection while the process stood still', async () => {
    await start({ limits: longLimits });
    const { socket, closed } = await open();
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(socket, 'data');
    const stopped = listener.close();
    await nextTurn();
    await nextTurn();
    socket.write(question);
    standStill(1_000);
    expect((await closed).match(/HTTP\/1\.1 200 /g)).toHaveLength(2);
    await stopped;
  });
});
