import { type Answer, elapsedMs, lowest, type Receiver } from '@enterprise-api/testkit';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { always, createFixture, type Fixture, isFailure, isResponse, requestTo } from '../testing/send-fixture.ts';
import type { Sender, SenderOptions } from './send.ts';

let fixture: Fixture;
let receiver: Receiver;
let resent: number;
beforeEach(async () => {
  fixture = await createFixture();
  resent = 0;
});
afterEach(() => fixture.close());

/** A sender that has a kept connection to a receiver, which answers the requests after the first one like this. */
async function senderWithKeptConnection(answers: Answer[], options: Partial<SenderOptions> = {}): Promise<Sender> {
  receiver = await fixture.receiver({ respond: ({ order }) => (order === 0 ? {} : (answers[order - 1] ?? {})) });
  const sender = fixture.sender({ onResent: () => (resent += 1), ...options });
  isResponse(await sender.send(requestTo(receiver.url()), always));
  return sender;
}

describe('a kept connection that the receiver ends under a request', () => {
  it.each(['end', 'reset'] as const)(
    'by %s before the first byte of an answer costs nothing: the same request goes out once more, on a new connection',
    async (ending) => {
      const sender = await senderWithKeptConnection([ending, { status: 202 }]);
      const result = isResponse(await sender.send(requestTo(receiver.url('/hook'), '{"id":"evt_2"}'), always));
      expect(result.statusCode).toBe(202);
      const [, first, second] = receiver.requests;
      expect([first?.connection, second?.connection]).toEqual([0, 1]);
      expect(second?.body).toEqual(first?.body);
      expect(second?.rawHeaders).toEqual(first?.rawHeaders);
      expect(receiver.requests).toHaveLength(3);
      expect(resent).toBe(1);
    },
  );

  it('leaves the timings of the new connection', async () => {
    const sender = await senderWithKeptConnection(['end']);
    const { timings } = isResponse(await sender.send(requestTo(receiver.url()), always));
    expect(timings).toMatchObject({ connect_ms: expect.any(Number), tls_ms: expect.any(Number) });
  });

  it.each(['end', 'reset'] as const)(
    'is replaced once: when the new one ends by %s too, that is the result',
    async (ending) => {
      const sender = await senderWithKeptConnection([ending, ending]);
      expect(isFailure(await sender.send(requestTo(receiver.url()), always)).code).toBe('connection_reset');
      expect(receiver.requests).toHaveLength(3);
      expect(resent).toBe(1);
    },
  );

  it.each<[string, Answer]>([
    ['in the status line', { raw: 'HTTP/1.1 20', after: 'end' }],
    ['in the status line, by a reset', { raw: 'HTTP/1.1 20', after: 'reset' }],
    ['after its first byte', { raw: 'H', after: 'end' }],
    ['after an informational response', { raw: 'HTTP/1.1 103 Early Hints\r\n\r\n', after: 'end' }],
    ['in an informational response', { raw: 'HTTP/1.1 100 Cont', after: 'end' }],
  ])('%s is not replaced', async (_, answer) => {
    const sender = await senderWithKeptConnection([answer]);
    expect(isFailure(await sender.send(requestTo(receiver.url()), always)).code).toBe('connection_reset');
    expect([receiver.requests.length, resent]).toEqual([2, 0]);
  });

  it('after an answer that is no HTTP is not replaced', async () => {
    const sender = await senderWithKeptConnection([{ raw: 'SSH-2.0-OpenSSH_9.2\r\n', after: 'end' }]);
    expect(isFailure(await sender.send(requestTo(receiver.url()), always)).code).toBe('response_invalid');
    expect([receiver.requests.length, resent]).toEqual([2, 0]);
  });

  it('at the deadline is not replaced', async () => {
    const sender = await senderWithKeptConnection(['hang'], { timeoutMs: 1_000 });
    expect(isFailure(await sender.send(requestTo(receiver.url()), always)).code).toBe('timeout');
    expect([receiver.requests.length, resent]).toEqual([2, 0]);
  });

  it('is replaced within the same deadline', async () => {
    const timeoutMs = 2_000;
    const sendTwice = async (nth: number) => {
      const sender = await senderWithKeptConnection([], { timeoutMs });
      const closing = Promise.withResolvers<Answer>();
      receiver.respond(({ connection }) => (connection === 0 ? closing.promise : 'hang'));
      setTimeout(() => closing.resolve('end'), timeoutMs / 2);
      return await elapsedMs(async () => {
        const { code, durationMs } = isFailure(await sender.send(requestTo(receiver.url()), always));
        expect([code, resent]).toEqual(['timeout', nth]);
        expect(durationMs).toBeGreaterThanOrEqual(timeoutMs - 1);
      });
    };
    // With a deadline of its own, the second request would end after one and a half times as long.
    const limitMs = 1.4 * timeoutMs;
    expect(await lowest(limitMs, sendTwice)).toBeLessThan(limitMs);
  });

  it.each<[string, number]>([
    ['when the new connection would be made', 1],
    ['when it stands', 2],
  ])(
    'is not replaced by an attempt that may not start %s: the receiver may have seen the first request',
    async (_, yes) => {
      const sender = await senderWithKeptConnection(['end']);
      let asked = 0;
      const mayStart = () => {
        asked += 1;
        return asked <= yes;
      };
      const result = await sender.send(requestTo(receiver.url()), { mayStart });
      expect(isFailure(result).code).toBe('connection_reset');
      expect([receiver.requests.length, receiver.connections()]).toEqual([2, yes]);
    },
  );
});

describe('a new connection that the receiver ends under its first request', () => {
  it.each(['end', 'reset'] as const)('by %s is connection_reset at once', async (ending) => {
    receiver = await fixture.receiver({ respond: () => ending });
    const sender = fixture.sender({ onResent: () => (resent += 1) });
    expect(isFailure(await sender.send(requestTo(receiver.url()), always)).code).toBe('connection_reset');
    expect([receiver.requests.length, resent]).toEqual([1, 0]);
  });
});
