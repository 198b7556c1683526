import { createLogger, systemClock, uuidTimeMs } from '@enterprise-api/shared/runtime';
import { expect, it } from '@jest/globals';
import type { Lease } from '../leases/lease.ts';
import type { Outcome } from '../outcomes/outcome.ts';
import type { WebhookConfig } from '../webhooks/webhook-cache.ts';
import { createAttempt } from './attempt.ts';
import { signingKey } from './sign.ts';

const uuid = '0192f7a0-0000-7000-8000-000000000000';
const lease: Lease = {
  deliveryId: uuid,
  organizationId: uuid,
  webhookId: uuid,
  hostKey: 'host',
  eventId: uuid,
  eventType: 'batch.failed',
  number: 1,
  maxAttempts: 3,
  round: 0,
  manual: false,
  leaseToken: '',
  webhookVersion: 1,
  leasedAt: systemClock.monotonic(),
  body: '{}',
  requestId: null,
};
const webhook: WebhookConfig = {
  id: uuid,
  organizationId: uuid,
  url: 'https://receiver.example.com/',
  hostKey: 'host',
  state: 'enabled',
  version: 1,
  keys: { current: signingKey(`whsec_${Buffer.alloc(32).toString('base64')}`), previous: null },
};

function bench(
  webhookOf: () => WebhookConfig | Promise<WebhookConfig | null>,
  given: Partial<Parameters<typeof createAttempt>[0]> = {},
) {
  const released: Lease[] = [];
  const attempt = createAttempt({
    clock: systemClock,
    log: createLogger('test', 'silent'),
    random: () => 0,
    productVersion: '1.0.0',
    policy: { delaysMs: [1_000], jitter: 0 },
    startWithinMs: 10_000,
    webhook: webhookOf,
    send: () => Promise.reject(new Error('a bug')),
    record: () => undefined,
    release: (leases) => released.push(...leases),
    cancel: () => undefined,
    onAttempt: () => undefined,
    knownState: () => null,
    isStopping: () => false,
    ...given,
  });
  return {
    run: () => attempt(lease, { canWait: false, connects: () => undefined, answered: () => undefined }),
    released,
  };
}

it('an attempt that a bug of ours prevents keeps its lease, which makes it rarer, and never rejects', async () => {
  const { run, released } = bench(() => webhook);
  expect(await run()).toEqual({ timedOut: false });
  expect(released).toEqual([]);
});

it('an attempt whose webhook cannot be looked up is handed back', async () => {
  const { run, released } = bench(() => Promise.reject(new Error('no database')));
  expect(await run()).toEqual({ timedOut: false });
  expect(released).toEqual([lease]);
});

it('an attempt whose webhook is disabled while it connects does not write its first byte', async () => {
  let state: WebhookConfig['state'] = 'enabled';
  const { run, released } = bench(() => webhook, {
    knownState: () => state,
    send: async (_request, { mayStart }) => {
      expect(mayStart()).toBe(true);
      state = 'disabled';
      expect(mayStart()).toBe(false);
      return { kind: 'not_started' };
    },
  });
  await run();
  expect(released).toEqual([lease]);
});

it('an attempt of a process that stops while it connects does not write its first byte', async () => {
  let isStopping = false;
  const { run, released } = bench(() => webhook, {
    isStopping: () => isStopping,
    send: async (_request, { mayStart }) => {
      expect(mayStart()).toBe(true);
      isStopping = true;
      expect(mayStart()).toBe(false);
      return { kind: 'not_started' };
    },
  });
  await run();
  expect(released).toEqual([lease]);
});

it('an attempt whose lease grows too old to start while it connects does not write its first byte', async () => {
  let now = lease.leasedAt;
  const { run, released } = bench(() => webhook, {
    clock: { ...systemClock, monotonic: () => now },
    send: async (_request, { mayStart }) => {
      now = lease.leasedAt + 10_000;
      expect(mayStart()).toBe(true);
      now += 1;
      expect(mayStart()).toBe(false);
      return { kind: 'not_started' };
    },
  });
  await run();
  expect(released).toEqual([lease]);
});

it('an attempt that was counted at another host sends nothing and comes again, counted at the right one', async () => {
  let sent = 0;
  const send = async () => {
    sent += 1;
    return { kind: 'not_started' as const };
  };
  const { run, released } = bench(() => ({ ...webhook, hostKey: 'moved' }), { send });
  await run();
  expect([sent, released]).toEqual([0, [lease]]);
});

it("the id of an attempt carries its start, by the database's clock", async () => {
  const recorded: Outcome[] = [];
  let now = 1_000_000;
  const answered = { kind: 'response', statusCode: 200, retryAfter: null, excerpt: null, durationMs: 5_000 } as const;
  const timings = { dns_ms: null, connect_ms: null, tls_ms: null, first_byte_ms: 5_000 };
  const { run } = bench(() => webhook, {
    clock: { now: () => now, monotonic: systemClock.monotonic },
    send: () => {
      now += 5_000;
      return Promise.resolve({ ...answered, timings });
    },
    record: (outcome) => recorded.push(outcome),
  });
  await run();
  expect(recorded.map(({ attemptId, startedAt }) => [uuidTimeMs(attemptId), startedAt.getTime()])).toEqual([
    [1_000_000, 1_000_000],
  ]);
});
