import { setTimeout as pause } from 'node:timers/promises';
import { startDnsServer } from '@enterprise-api/testkit';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { always, createFixture, type Fixture, isFailure, isResponse, requestTo } from '../testing/send-fixture.ts';
import { createResolver } from './resolver.ts';

let fixture: Fixture;
beforeEach(async () => {
  fixture = await createFixture();
});
afterEach(() => fixture.close());

/** So that each request needs a connection, and so a permit. */
const closesConnections = { respond: () => ({ headers: { connection: 'close' } }) };

it('the wait for a connect permit does not count as time of the receiver', async () => {
  const receiver = await fixture.receiver(closesConnections);
  const sender = fixture.sender({ timeoutMs: 5_000 });
  const startedAt = performance.now();
  const sent = Array.from({ length: 100 }, async () => {
    const result = await sender.send({ ...requestTo(receiver.url('/')), lowPriority: true }, always);
    return { durationMs: isResponse(result).durationMs, elapsedMs: performance.now() - startedAt };
  });
  const waits = (await Promise.all(sent)).map(({ durationMs, elapsedMs }) => elapsedMs - durationMs);
  expect(Math.max(...waits)).toBeGreaterThan(1_000);
});

it('an attempt that has waited for a connect permit still has its whole deadline', async () => {
  const timeoutMs = 5_000;
  const receiver = await fixture.receiver({ respond: () => 'hang' });
  const sender = fixture.sender({ timeoutMs });
  const startedAt = performance.now();
  const sent = Array.from({ length: 100 }, async () => {
    const permit = Promise.withResolvers<number>();
    const mayStart = () => {
      permit.resolve(performance.now());
      return true;
    };
    const sending = sender.send({ ...requestTo(receiver.url('/')), lowPriority: true }, { mayStart });
    const grantedAt = await permit.promise;
    // A busy machine is as late with this timer as with the deadline.
    const timer = pause(timeoutMs).then(() => performance.now());
    const { code, durationMs, timings } = isFailure(await sending);
    return {
      code,
      durationMs,
      dnsMs: timings.dns_ms ?? 0,
      grantedAt,
      endedAt: performance.now(),
      timerAt: await timer,
    };
  });
  const attempts = await Promise.all(sent);
  expect(attempts.map(({ code }) => code)).toEqual(attempts.map(() => 'timeout'));
  for (const { durationMs, dnsMs, grantedAt, endedAt, timerAt } of attempts) {
    expect(durationMs).toBeGreaterThan(timeoutMs - 10);
    expect(durationMs).toBeLessThan(dnsMs + endedAt - grantedAt + 10);
    expect(endedAt - timerAt).toBeLessThan(2_500);
  }
  expect(Math.max(...attempts.map(({ grantedAt }) => grantedAt - startedAt))).toBeGreaterThan(1_000);
});

it('an attempt that may not start any more when its permit would be granted does not connect', async () => {
  let connections = 0;
  const receiver = await fixture.receiver({
    onConnection: () => {
      connections += 1;
    },
  });
  const sender = fixture.sender();
  let asked = 0;
  const mayStart = () => {
    asked += 1;
    return false;
  };
  const sent = Array.from({ length: 3 }, () => sender.send(requestTo(receiver.url('/')), { mayStart }));
  expect(await Promise.all(sent)).toEqual([1, 2, 3].map(() => ({ kind: 'not_started' })));
  expect([asked, connections]).toEqual([3, 0]);
});

it('the wait for a connect permit never ends in a timeout, however short the deadline is', async () => {
  const receiver = await fixture.receiver(closesConnections);
  const sender = fixture.sender({ timeoutMs: 2_000 });
  const startedAt = performance.now();
  const sent = Array.from({ length: 200 }, () =>
    sender.send({ ...requestTo(receiver.url('/')), lowPriority: true }, always),
  );
  for (const result of await Promise.all(sent)) expect(isResponse(result).statusCode).toBe(200);
  expect(performance.now() - startedAt).toBeGreaterThan(2_500);
});

it('an attempt that waits for a connect permit takes a connection that another one has left meanwhile', async () => {
  let connections = 0;
  const receiver = await fixture.receiver({
    onConnection: () => {
      connections += 1;
    },
  });
  const others = await fixture.receiver(closesConnections);
  const sender = fixture.sender();
  const send = (url: string) => sender.send({ ...requestTo(url), lowPriority: true }, always);
  // A permit every 15 ms: the first has its answer long before it is the last one's turn.
  const urls = [receiver.url('/'), ...Array.from({ length: 60 }, () => others.url('/')), receiver.url('/')];
  for (const result of await Promise.all(urls.map(send))) expect(isResponse(result).statusCode).toBe(200);
  expect([receiver.requests.length, connections]).toEqual([2, 1]);
});

it('a name is looked up before a permit is asked for, and the look-up counts', async () => {
  let granted = 0;
  const dns = await startDnsServer({ 'silent.example': 'silent' });
  fixture.onClose(() => dns.close());
  const sender = fixture.sender({ timeoutMs: 300, resolver: createResolver({ servers: [dns.address] }) });
  const mayStart = () => {
    granted += 1;
    return true;
  };
  const result = await sender.send({ ...requestTo('https://silent.example/'), lowPriority: true }, { mayStart });
  expect([isFailure(result).code, granted]).toEqual(['timeout', 0]);
});
