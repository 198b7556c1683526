import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { always, createFixture, type Fixture, requestTo } from '../testing/send-fixture.ts';

let fixture: Fixture;
beforeEach(async () => {
  fixture = await createFixture();
});
afterEach(() => fixture.close());

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
