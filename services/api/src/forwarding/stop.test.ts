import { afterEach, expect, it } from '@jest/globals';
import { createForwardingFixture, type ForwardingFixture, get } from '../testing/forwarding-fixture.ts';

let fixture: ForwardingFixture;
afterEach(() => fixture.close());

const beginning = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n';

it('a stop waits 12 s for forwarded requests, then cuts them, and none ends as if it were whole', async () => {
  fixture = await createForwardingFixture({ limits: { timeoutMs: 60_000, idleTimeoutMs: 60_000 } });
  const current = fixture.send(get());
  (await fixture.upstream.awaitRequest(/\r\n\r\n$/)).socket.write(beginning);
  const old = fixture.send(get().replace('HTTP/1.1', 'HTTP/1.0'));
  (await fixture.upstream.awaitRequest(/\r\n\r\n$/, 1)).socket.write(beginning);
  const lucky = fixture.send(get());
  const { socket } = await fixture.upstream.awaitRequest(/\r\n\r\n$/, 2);
  socket.write(beginning);
  for (const client of [current, old, lucky]) await client.awaitText(/half/);
  const startedAt = performance.now();
  const stopped = fixture.listener.close();
  socket.write('0\r\n\r\n');
  expect(await lucky.awaitText(/\r\n0\r\n\r\n$/)).toContain('half');
  await stopped;
  expect(performance.now() - startedAt).toBeGreaterThan(11_900);
  expect(await current.awaitClose()).not.toMatch(/\r\n0\r\n/);
  await old.awaitClose();
  expect(old.wasReset()).toBe(true);
  expect(fixture.outcomes).toEqual(['answered', 'cut', 'cut']);
});
