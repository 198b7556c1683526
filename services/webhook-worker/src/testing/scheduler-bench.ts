import { afterEach } from '@jest/globals';
import type { Lease } from '../leases/lease.ts';
import type { KnownPauses } from '../pauses/sending-pauses.ts';
import { Scheduler } from '../scheduler/scheduler.ts';

const benches: Scheduler[] = [];

afterEach(() => {
  for (const scheduler of benches.splice(0)) scheduler.stop();
});

interface Running {
  lease: Lease;
  /** The attempt ends, after the last byte of an answer or without one. */
  end(isAnswered?: boolean): Promise<void>;
}

/** A scheduler whose time stands still until a test moves it, and whose attempts end when a test says so. */
export function schedulerBench(
  settings: { permits?: number; concurrency?: number; aboveShare?: string[]; pauses?: KnownPauses } = {},
) {
  let now = 0;
  const running = new Set<Running>();
  const started: Lease[] = [];
  const released: Lease[] = [];
  let refills = 0;
  let offers = 0;
  const scheduler = new Scheduler({
    clock: { now: () => now, monotonic: () => now },
    permits: settings.permits ?? 10,
    concurrency: settings.concurrency ?? 3,
    startWithinMs: 10_000,
    pauses: settings.pauses ?? { isAllPaused: false, organizationIds: new Set() },
  });
  scheduler.connect({
    deliver: (lease) => {
      const done = Promise.withResolvers<boolean>();
      const attempt = {
        lease,
        end: async (isAnswered = true) => {
          running.delete(attempt);
          done.resolve(isAnswered);
          await done.promise;
          await Promise.resolve();
        },
      };
      running.add(attempt);
      started.push(lease);
      return done.promise;
    },
    release: (leases) => released.push(...leases),
    organizationsAboveShare: () => settings.aboveShare ?? [],
    refillNeeded: () => {
      refills += 1;
    },
    capacityFreed: () => {
      offers += 1;
    },
  });
  benches.push(scheduler);
  const lease = (webhookId: string, { organizationId = 'org', hostKey = webhookId, leasedAt = now } = {}): Lease => ({
    deliveryId: `${webhookId}-${Math.random()}`,
    organizationId,
    webhookId,
    hostKey: `${organizationId} ${hostKey}`,
    eventId: 'event',
    eventType: 'batch.failed',
    number: 1,
    maxAttempts: 3,
    round: 0,
    manual: false,
    isTest: false,
    isLimited: false,
    leaseToken: '',
    webhookVersion: 1,
    leasedAt,
    body: Buffer.from('{}'),
    requestId: null,
    traceparent: null,
    acceptedAt: 0,
  });
  const capacityOf = (kind: 'new' | 'due', webhookId: string) => {
    scheduler.startEligible();
    const capacity = scheduler.capacity(kind);
    const index = capacity.webhookIds.indexOf(webhookId);
    return index === -1 ? capacity.ofNewQueue : capacity.free[index];
  };
  return {
    scheduler,
    released,
    lease,
    leases: (webhookId: string, count: number, values?: Parameters<typeof lease>[1]) =>
      Array.from({ length: count }, () => lease(webhookId, values)),
    /** Attempts of these webhooks under way, the oldest first; of all without any. */
    running: (...webhookIds: string[]) =>
      [...running].filter((attempt) => webhookIds.length === 0 || webhookIds.includes(attempt.lease.webhookId)),
    /** How many attempts of a webhook have started. */
    started: (webhookId: string) => started.filter((entry) => entry.webhookId === webhookId).length,
    capacityOf,
    /** Time passes, and the scheduler notices. */
    pass: (ms: number) => {
      now += ms;
      scheduler.startEligible();
    },
    refills: () => refills,
    offers: () => offers,
  };
}
