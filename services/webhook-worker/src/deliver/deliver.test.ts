import { createLogger, systemClock, uuidTimeMs } from '@enterprise-api/shared/runtime';
import { signingKey } from '@enterprise-api/shared/security';
import { expect, it } from '@jest/globals';
import type { Lease } from '../leases/lease.ts';
import { createWorkerMetrics } from '../metrics.ts';
import type { Outcome } from '../outcomes/outcome.ts';
import type { WebhookConfig } from '../webhooks/webhook-cache.ts';
import { type DeliverParts, deliver } from './deliver.ts';

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
  isTest: false,
  isLimited: false,
  leaseToken: '',
  webhookVersion: 1,
  // A whole number: with fractions, its age after 10,000 ms can be a rounding error more.
  leasedAt: Math.floor(systemClock.monotonic()),
  body: Buffer.from('{}'),
  requestId: null,
  traceparent: null,
  acceptedAt: 0,
};
const webhook: WebhookConfig = {
  id: uuid,
  organizationId: uuid,
  url: 'https://receiver.example.com/',
  hostKey: 'host',
  state: 'enabled',
  version: 1,
  pausedUntil: 0,
  keys: { current: signingKey(`whsec_${Buffer.alloc(32).toString('base64')}`), previous: null, headers: [] },
};

type Given = Partial<Omit<DeliverParts, 'sender'>> & { send?: DeliverParts['sender']['send'] };

/** What came of an attempt of the lease, with everything around it given. */
async function attemptWith(
  get: DeliverParts['webhooks']['get'],
  { send, ...given }: Given = {},
  leased: Partial<Lease> = {},
) {
  const came: { released: number; ended: number; outcomes: Outcome[]; causes: unknown[] } = {
    released: 0,
    ended: 0,
    outcomes: [],
    causes: [],
  };
  const parts: DeliverParts = {
    clock: systemClock,
    log: createLogger('test', 'silent'),
    random: () => 0,
    policy: { delaysMs: [1_000], jitter: 0 },
    startWithinMs: 10_000,
    webhooks: { get, known: () => null },
    scheduler: { isHalted: () => false },
    sender: { send: send ?? (() => Promise.reject(new Error('a bug'))) },
    outcomes: { add: (outcome) => void came.outcomes.push(outcome) },
    leaseLoader: {
      release: (leases) => {
        came.released += leases.length;
      },
      end: () => {
        came.ended += 1;
      },
    },
    metrics: createWorkerMetrics(undefined),
    warnOfLocalFailure: ({ message }) => void came.causes.push(message),
    sendsTraceparent: false,
    ...given,
  };
  const isAnswered = await deliver(parts, { ...lease, ...leased });
  expect(came.ended).toBe(1);
  return { ...came, isAnswered };
}

const nothing = { released: 0, outcomes: [] };
const released = { ...nothing, released: 1 };

const timings = { dns_ms: null, connect_ms: null, tls_ms: null, first_byte_ms: null };

it('an attempt that a bug of ours prevents keeps its lease, so that it comes again later, and never rejects', async () => {
  expect(await attemptWith(() => webhook)).toMatchObject(nothing);
});

it('an attempt whose webhook cannot be looked up is released', async () => {
  expect(await attemptWith(() => Promise.reject(new Error('no database')))).toMatchObject(released);
});

it.each<[string, WebhookConfig | null]>([
  ['does not exist', null],
  ['is disabled', { ...webhook, state: 'disabled' }],
  ['is deleted', { ...webhook, state: 'deleted' }],
  ['is paused', { ...webhook, pausedUntil: Number.POSITIVE_INFINITY }],
])('an attempt whose webhook %s is released before it looks up an address', async (_, found) => {
  let sent = 0;
  const send = async () => {
    sent += 1;
    return { kind: 'not_started' as const };
  };
  expect(await attemptWith(() => Promise.resolve(found), { send })).toMatchObject(released);
  expect(sent).toBe(0);
});

it.each([
  ['disabled', 1],
  ['deleted', 0],
] as const)('a test of a %s webhook is sent %d times', async (state, times) => {
  let sent = 0;
  const send = async () => {
    sent += 1;
    return { kind: 'not_started' as const };
  };
  await attemptWith(() => ({ ...webhook, state }), { send }, { isTest: true });
  expect(sent).toBe(times);
});

it.each<[string, Partial<WebhookConfig>]>([
  ['disabled', { state: 'disabled' }],
  ['deleted', { state: 'deleted' }],
  ['paused', { pausedUntil: Number.POSITIVE_INFINITY }],
])('an attempt whose webhook is %s while it connects does not write its first byte', async (_, change) => {
  let known = webhook;
  const result = await attemptWith(() => webhook, {
    webhooks: { get: () => webhook, known: () => known },
    send: async (_request, { mayStart }) => {
      expect(mayStart()).toBe(true);
      known = { ...webhook, ...change };
      expect(mayStart()).toBe(false);
      return { kind: 'not_started' };
    },
  });
  expect(result).toMatchObject(released);
});

it('an attempt of a paused webhook is released unless it is a test, and starts once the pause has ended', async () => {
  const paused = { ...webhook, pausedUntil: Number.POSITIVE_INFINITY };
  expect(await attemptWith(() => paused)).toMatchObject(released);
  const send = () => Promise.resolve({ kind: 'not_started' } as const);
  let sent = 0;
  const counting = () => {
    sent += 1;
    return send();
  };
  await attemptWith(() => paused, { send: counting }, { isTest: true });
  await attemptWith(() => ({ ...webhook, pausedUntil: systemClock.now() - 1 }), { send: counting });
  expect(sent).toBe(2);
});

it('an attempt of a process that stops while it connects does not write its first byte', async () => {
  let isStopping = false;
  const result = await attemptWith(() => webhook, {
    scheduler: { isHalted: () => isStopping },
    send: async (_request, { mayStart }) => {
      expect(mayStart()).toBe(true);
      isStopping = true;
      expect(mayStart()).toBe(false);
      return { kind: 'not_started' };
    },
  });
  expect(result).toMatchObject(released);
});

it('an attempt whose lease grows too old to start while it connects does not write its first byte', async () => {
  let now = lease.leasedAt;
  const result = await attemptWith(() => webhook, {
    clock: { ...systemClock, monotonic: () => now },
    send: async (_request, { mayStart }) => {
      now = lease.leasedAt + 10_000;
      expect(mayStart()).toBe(true);
      now += 1;
      expect(mayStart()).toBe(false);
      return { kind: 'not_started' };
    },
  });
  expect(result).toMatchObject(released);
});

it('an attempt without a readable secret is not used up while its organization is paused', async () => {
  const unreadable = { ...webhook, keys: null };
  expect(await attemptWith(() => unreadable, { scheduler: { isHalted: () => true } })).toMatchObject(released);
  expect(await attemptWith(() => unreadable)).toMatchObject({
    released: 0,
    outcomes: [{ error: 'secret_unavailable' }],
  });
});

it.each([true, false])('tells whether deliveries above a limit wait for the record: %s', async (isLimited) => {
  const told: unknown[] = [];
  const outcomes = { add: (_: Outcome, ...others: unknown[]) => void told.push(others) };
  await attemptWith(() => ({ ...webhook, keys: null }), { outcomes }, { isLimited });
  expect(told).toEqual([[isLimited]]);
});

it('an attempt that was counted at another host sends nothing and is released, to be counted at the right one', async () => {
  let sent = 0;
  const send = async () => {
    sent += 1;
    return { kind: 'not_started' as const };
  };
  const result = await attemptWith(() => ({ ...webhook, hostKey: 'moved' }), { send });
  expect(sent).toBe(0);
  expect(result).toMatchObject(released);
});

it("the id of an attempt carries its start, by the database's clock", async () => {
  let now = 1_000_000;
  const result = await attemptWith(() => webhook, {
    clock: { now: () => now, monotonic: systemClock.monotonic },
    send: () => {
      now += 5_000;
      const head = {
        statusCode: 200,
        retryAfter: null,
        location: null,
        excerpt: null,
        isCompressed: false,
        isAborted: false,
      };
      return Promise.resolve({
        kind: 'response',
        ...head,
        headers: {},
        durationMs: 5_000,
        timings,
        remoteAddress: null,
      });
    },
  });
  const { attemptId, startedAt } = outcomeOf(result);
  expect([uuidTimeMs(attemptId), startedAt.getTime()]).toEqual([1_000_000, 1_000_000]);
});

const timeout = {
  kind: 'error',
  code: 'timeout',
  message: 'x',
  durationMs: 5,
  timings,
  remoteAddress: null,
} as const;

it.each([
  [1, 1_000_000 - 250.877, 251],
  [1, 1_000_000 - 0.0001, 0],
  [1, 1_000_001, 0],
  [1, Number.NEGATIVE_INFINITY, 1_728_000_000],
  [2, 0, null],
])('attempt %d of an event accepted at %d has a lag of %d ms', async (number, acceptedAt, lagMs) => {
  const clock = { now: () => 1_000_000, monotonic: systemClock.monotonic };
  const result = await attemptWith(() => webhook, { clock, send: async () => timeout }, { number, acceptedAt });
  expect(outcomeOf(result).lagMs).toBe(lagMs);
});

it("a failure on our side is recorded and retried, and is not the receiver's", async () => {
  const failure = { ...timeout, localCause: 'resolver' as const };
  const result = await attemptWith(() => webhook, { send: () => Promise.resolve(failure) });
  expect(result).toMatchObject({ causes: ['resolver'], isAnswered: false });
  const counts = { countsForBreaker: false, countsForHealth: false };
  expect(outcomeOf(result)).toMatchObject({
    result: 'retry',
    error: 'timeout',
    errorMessage: 'x',
    delayMs: 1_000,
    ...counts,
  });
});

it.each([
  ['batch.failed', 200, true],
  ['batch.failed', 429, true],
  ['batch.failed', 500, true],
  ['batch.failed', 503, true],
  ['webhook.failing', 200, true],
  ['webhook.failing', 503, false],
] as const)('of %s, the answer %d counts for the health: %s', async (eventType, statusCode, countsForHealth) => {
  const answer = {
    kind: 'response',
    statusCode,
    retryAfter: '60',
    location: null,
    excerpt: null,
    headers: {},
    remoteAddress: null,
  } as const;
  const send = () => Promise.resolve({ ...answer, isCompressed: false, isAborted: false, durationMs: 5, timings });
  const outcome = outcomeOf(await attemptWith(() => webhook, { send }, { eventType }));
  const opensCircuit = statusCode !== 200 && countsForHealth;
  expect([outcome.countsForHealth, outcome.countsForBreaker]).toEqual([countsForHealth, opensCircuit]);
  // Retry-After of 429 and 503 holds the webhook, that of any other answer its own delivery.
  expect(outcome.holdForMs).toBe(opensCircuit && statusCode !== 500 ? 60_000 : null);
  expect(outcome.delayMs).toBe(statusCode === 200 ? 0 : 60_000);
});

it.each([
  [500, 'retry', 3_600_000],
  [410, 'abort', 0],
  [200, 'delivered', 0],
] as const)('a test with further attempts is tried hourly: %d means %s', async (statusCode, result, delayMs) => {
  const head = { kind: 'response', statusCode, retryAfter: null, location: null, excerpt: null } as const;
  const answer = { ...head, headers: { server: 'nginx' }, remoteAddress: '192.0.2.1' };
  const send = () => Promise.resolve({ ...answer, isCompressed: false, isAborted: false, durationMs: 5, timings });
  const outcome = outcomeOf(
    await attemptWith(() => webhook, { send, random: () => 0.9 }, { isTest: true, maxAttempts: 168 }),
  );
  expect(outcome).toMatchObject({ result, delayMs, countsForHealth: false, countsForBreaker: false, holdForMs: null });
  // Only failed attempts keep the address and the headers.
  const isKept = statusCode !== 200;
  expect(outcome.remoteAddress).toBe(isKept ? '192.0.2.1' : null);
  expect(outcome.responseHeaders).toEqual(isKept ? { server: 'nginx' } : null);
});

function outcomeOf({ outcomes }: { outcomes: Outcome[] }): Outcome {
  const [outcome] = outcomes;
  if (outcome === undefined) throw new Error('No outcome');
  return outcome;
}
