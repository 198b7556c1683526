import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { always, createFixture, type Fixture, isFailure, isResponse, requestTo } from '../testing/send-fixture.ts';

let fixture: Fixture;
beforeEach(async () => {
  fixture = await createFixture();
});
afterEach(() => fixture.close());

it('waiting for a turn to connect takes nothing of the time of the receiver', async () => {
  const receiver = await fixture.receiver();
  const sender = fixture.sender({ timeoutMs: 5_000 });
  const startedAt = performance.now();
  const sent = Array.from({ length: 100 }, async () => {
    const result = await sender.send({ ...requestTo(receiver.url('/')), lowPriority: true }, always);
    return { durationMs: isResponse(result).durationMs, elapsedMs: performance.now() - startedAt };
  });
  const waits = (await Promise.all(sent)).map(({ durationMs, elapsedMs }) => elapsedMs - durationMs);
  expect(Math.max(...waits)).toBeGreaterThan(1_000);
});

it('whoever has waited for a turn to connect still has all of its time', async () => {
  const receiver = await fixture.receiver({ respond: () => 'hang' });
  const sender = fixture.sender({ timeoutMs: 5_000 });
  const startedAt = performance.now();
  const sent = Array.from({ length: 100 }, () =>
    sender.send({ ...requestTo(receiver.url('/')), lowPriority: true }, always),
  );
  const results = await Promise.all(sent);
  expect(results.map((result) => isFailure(result).code)).toEqual(results.map(() => 'timeout'));
  for (const result of results) expect(Math.abs(isFailure(result).durationMs - 5_000)).toBeLessThan(1_000);
  expect(performance.now() - startedAt).toBeGreaterThan(6_000);
});

it('whoever may not start any more when its turn comes does not connect', async () => {
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

it('a deadline that comes before the turn to connect says nothing about the receiver', async () => {
  let seen = 0;
  const server = createServer((socket) => {
    seen += 1;
    socket.on('error', () => {}).resume();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  fixture.onClose(() => server.close());
  const sender = fixture.sender({ timeoutMs: 1 });
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const results = await Promise.all(Array.from({ length: 200 }, () => sender.send(requestTo(url), always)));
  const failed = results.filter(({ kind }) => kind === 'error').length;
  const notStarted = results.filter(({ kind }) => kind === 'not_started').length;
  expect(failed + notStarted).toBe(200);
  expect(notStarted).toBeGreaterThan(0);
  expect(seen).toBeLessThanOrEqual(failed);
});
