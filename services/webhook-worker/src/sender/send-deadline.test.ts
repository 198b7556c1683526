import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { startDnsServer } from '@enterprise-api/testkit';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  always,
  createFixture,
  type Fixture,
  isFailure,
  isResponse,
  requestTo,
  resolverOf,
} from '../testing/send-fixture.ts';

let fixture: Fixture;
beforeEach(async () => {
  fixture = await createFixture();
});
afterEach(() => fixture.close());

/** Long enough for a handshake on a busy machine. */
const timeoutMs = 1_000;

describe('the one deadline', () => {
  it('covers the look-up of the name', async () => {
    const dns = await startDnsServer({ 'silent.example': 'silent' });
    fixture.onClose(() => dns.close());
    const sender = fixture.sender({ timeoutMs, resolver: resolverOf(dns) });
    const result = isFailure(await sender.send(requestTo('https://silent.example/'), always));
    expect(result).toMatchObject({
      code: 'timeout',
      message: 'The host name of the URL was not resolved within 1000 ms.',
    });
  });

  it('covers the handshake', async () => {
    const server = createServer((socket) => void socket.on('error', () => {}).resume());
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    fixture.onClose(() => server.close());
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const closed = once(server, 'connection').then(([socket]) => once(socket, 'close'));
    const result = isFailure(await fixture.sender({ timeoutMs }).send(requestTo(url), always));
    expect(result).toMatchObject({ code: 'timeout', message: 'The TLS handshake was not finished within 1000 ms.' });
    expect(result.timings.connect_ms).not.toBeNull();
    await closed;
  });

  it('covers a receiver that does not read the body', async () => {
    const receiver = await fixture.receiver({
      respondEarly: () => 'hang',
      onConnection: (socket) => void socket.pause(),
    });
    const result = await fixture.sender({ timeoutMs }).send(requestTo(receiver.url(), 'x'.repeat(20_000_000)), always);
    expect(isFailure(result).code).toBe('timeout');
  });

  it('covers the answer, and ends the connection', async () => {
    const receiver = await fixture.receiver({ respond: () => 'hang' });
    const sender = fixture.sender({ timeoutMs: 2_000 });
    const results = await Promise.all([1, 2, 3].map(() => sender.send(requestTo(receiver.url()), always)));
    for (const result of results) {
      expect(isFailure(result)).toMatchObject({
        code: 'timeout',
        message: 'The receiver did not answer within 2000 ms.',
      });
      expect(isFailure(result).durationMs).toBeGreaterThanOrEqual(1_999);
    }
    receiver.respond(() => ({}));
    isResponse(await sender.send(requestTo(receiver.url()), always));
    expect(receiver.connections()).toBe(4);
  });
});

describe('a deadline that fires late, because this process was blocked', () => {
  it('accepts the answer that came meanwhile', async () => {
    const receiver = await fixture.receiver({
      respond: () => {
        // The answer is on its way before the process is blocked.
        setImmediate(() => block(timeoutMs + 700));
        return { status: 201 };
      },
    });
    const result = await fixture.sender({ timeoutMs }).send(requestTo(receiver.url()), always);
    expect(isResponse(result).statusCode).toBe(201);
  });

  it('is a timeout when no answer came', async () => {
    const receiver = await fixture.receiver({
      respond: () => {
        setImmediate(() => block(timeoutMs + 700));
        return 'hang';
      },
    });
    const result = await fixture.sender({ timeoutMs }).send(requestTo(receiver.url()), always);
    expect(isFailure(result).code).toBe('timeout');
  });
});

/** Blocks the event loop: the fault under test. */
function block(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}
