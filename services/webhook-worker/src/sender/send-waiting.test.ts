import { startDnsServer } from '@enterprise-api/testkit';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { createFixture, type Fixture, isFailure, requestTo, resolverOf } from '../testing/send-fixture.ts';
import { createConnectPacing } from './connection.ts';

let fixture: Fixture;
beforeEach(async () => {
  fixture = await createFixture();
});
afterEach(() => fixture.close());

it('of a thousand connections that are asked for at once, a tenth begins in each round of the event loop', async () => {
  const pace = createConnectPacing();
  let begun = 0;
  const all = Array.from({ length: 1_000 }, () => pace().then(() => (begun += 1)));
  const perRound: number[] = [];
  while (begun < all.length) {
    const before = begun;
    await new Promise((resolve) => setImmediate(resolve));
    perRound.push(begun - before);
  }
  expect(Math.max(...perRound)).toBe(100);
  expect(perRound.length).toBeLessThan(100);
});

it('an attempt that may not start any more when its connection would begin does not connect', async () => {
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

it('a name is looked up before the attempt is asked whether it may start, and the look-up counts', async () => {
  let asked = 0;
  const dns = await startDnsServer({ 'silent.example': 'silent' });
  fixture.onClose(() => dns.close());
  const sender = fixture.sender({ timeoutMs: 300, resolver: resolverOf(dns) });
  const mayStart = () => {
    asked += 1;
    return true;
  };
  const result = await sender.send(requestTo('https://silent.example/'), { mayStart });
  expect([isFailure(result).code, asked]).toEqual(['timeout', 0]);
});
