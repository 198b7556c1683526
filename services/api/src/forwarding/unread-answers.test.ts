import type { ServerResponse } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { until } from '@enterprise-api/testkit';
import { afterEach, describe, expect, it } from '@jest/globals';
import {
  createForwardingFixture,
  type FixtureOptions,
  type ForwardingFixture,
  get,
  requestText,
} from '../testing/forwarding-fixture.ts';
import { ok } from '../testing/raw-upstream.ts';

let fixture: ForwardingFixture;
afterEach(() => fixture.close());

async function start(options: FixtureOptions): Promise<void> {
  fixture = await createForwardingFixture(options);
}

/** Waits until no answer was added for this time: the client's buffers are full. */
async function untilStalled(forMs: number): Promise<void> {
  let answers = 0;
  let since = performance.now();
  await until('answers wait for their client', () => {
    if (fixture.outcomes.length !== answers) since = performance.now();
    answers = fixture.outcomes.length;
    return answers > 0 && performance.now() - since > forMs;
  });
}

/** Sends many requests over one connection and reads none of the answers. */
function sendUnread(requests: number) {
  const client = fixture.open();
  client.socket.pause();
  client.socket.write(get().repeat(requests));
  return client;
}

const streamRequest = /GET \/stream .*\r\n\r\n$/s;
const streamHead = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
const chunk = '1\r\nx\r\n';

describe('a client that stops reading', () => {
  it('does not cut a request of another client that uses the same upstream connection', async () => {
    const body = 'a'.repeat(30_000);
    await start({
      limits: { idleTimeoutMs: 1_500, concurrency: 10_000 },
      onData: ({ socket, received }) => socket.write(streamRequest.test(received) ? streamHead : ok(body)),
    });
    const silent = sendUnread(2_000);
    await untilStalled(200);
    const reader = fixture.send(requestText('GET', [], '/stream'));
    const stream = await fixture.upstream.awaitRequest(streamRequest);
    const drip = setInterval(() => stream.socket.write(chunk), 50);
    try {
      const startedAt = performance.now();
      await until('the silent client has been cut', () => performance.now() - startedAt > 3_000);
      silent.socket.resume();
      await silent.awaitClose();
      const received = reader.text().length;
      await until('the stream goes on', () => reader.text().length > received);
    } finally {
      clearInterval(drip);
    }
    expect(reader.socket.closed).toBe(false);
    expect(stream.isClosed).toBe(false);
  });

  it('is cut within the limit of the listener when the answers are refusals', async () => {
    await start({
      silentMs: 500,
      limits: { concurrency: 10_000 },
      base: () => 'http://127.0.0.1:1',
      answerHeaders: { 'X-Long': 'a'.repeat(15_000) },
    });
    const silent = sendUnread(2_000);
    await untilStalled(1_500);
    silent.socket.resume();
    await silent.awaitClose();
    expect(fixture.outcomes.length).toBeLessThan(2_000);
  });
});

describe('a request whose connection closes before it reaches the upstream', () => {
  it('gives its permit back when it waited behind another request', async () => {
    const granted = Promise.withResolvers<void>();
    let judged = 0;
    await start({
      limits: { concurrency: 3 },
      judge: () => {
        judged += 1;
        return judged % 2 === 0 ? granted.promise : Promise.resolve();
      },
    });
    for (let connection = 1; connection <= 3; connection++) {
      const client = fixture.send(get() + get());
      await until('both requests are judged', () => judged === 2 * connection);
      await fixture.upstream.awaitRequest(/\r\n\r\n$/, connection - 1);
      client.socket.destroy();
      await until('the first request has ended', () => fixture.outcomes.length === connection);
    }
    granted.resolve();
    const next = fixture.send(get());
    (await fixture.upstream.awaitRequest(/\r\n\r\n$/, 3)).socket.write(ok('next'));
    await next.awaitText(/next$/);
    await until('every permit is free', () => fixture.permitsInUse() === 0);
  });

  it('is forgotten when it was being judged', async () => {
    setFlagsFromString('--expose-gc');
    const collect: () => void = runInNewContext('gc');
    const granted = Promise.withResolvers<void>();
    let refused: WeakRef<ServerResponse> | undefined;
    await start({
      judge: (response) => {
        refused = new WeakRef(response);
        return granted.promise;
      },
    });
    const client = fixture.send(get());
    await until('the request is judged', () => refused !== undefined);
    client.socket.resetAndDestroy();
    await until('the connection is closed', () => refused?.deref()?.destroyed);
    granted.resolve();
    await until('nothing holds the request', () => {
      collect();
      return refused?.deref() === undefined;
    });
    expect(fixture.permitsInUse()).toBe(0);
  });
});
