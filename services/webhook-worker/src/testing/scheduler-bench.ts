import { afterEach } from '@jest/globals';
import type { Lease } from '../leases/lease.ts';
import type { KnownPauses } from '../pauses/sending-pauses.ts';
import { Scheduler } from '../scheduler/scheduler.ts';

const benches: Scheduler[] = [];

afterEach(() => {
  for (const scheduler of benches.splice(0)) scheduler.stop();
});

/** A scheduler whose time stands still until a test moves it, and whose attempts end when a test says so. */
export function schedulerBench(
  settings: {
    permits?: number;
    concurrency?: number;
    waiting?: number;
    recentPerHost?: number;
    /** Organizations whose bodies take more memory than their share. */
    aboveShare?: ReadonlySet<string>;
    pauses?: KnownPauses;
  } = {},
) {
  let now = 0;
  const running: {
    lease: Lease;
    canWait: boolean;
    connects: () => void;
    answer: () => void;
    end: (timedOut?: boolean) => Promise<void>;
  }[] = [];
  const released: Lease[] = [];
  let refills = 0;
  let offers = 0;
  const scheduler = new Scheduler({
    clock: { now: () => now, monotonic: () => now },
    permits: settings.permits ?? 10,
    limits: { concurrency: settings.concurrency ?? 3, waiting: settings.waiting ?? 20 },
    recentPerHost: settings.recentPerHost ?? 10_000,
    startWithinMs: 10_000,
    isAboveShare: (organizationId) => settings.aboveShare?.has(organizationId) ?? false,
    pauses: settings.pauses ?? { isAllPaused: false, organizationIds: [], isPaused: () => false },
  });
  scheduler.connect({
    attempt: (lease, { answered, canWait, connects }) => {
      const done = Promise.withResolvers<{ timedOut: boolean }>();
      const end = async (timedOut = false) => {
        done.resolve({ timedOut });
        await done.promise;
        await Promise.resolve();
      };
      running.push({ lease, answer: answered, canWait, connects, end });
      return done.promise;
    },
    release: (leases) => released.push(...leases),
    refillNeeded: () => {
      refills += 1;
    },
    capacityFreed: () => {
      offers += 1;
    },
  });
  benches.push(scheduler);
  const lease = (webhookId: string, leasedAt = now, hostKey = ''): Lease => ({
    deliveryId: `${webhookId}-${Math.random()}`,
    organizationId: 'org',
    webhookId,
    hostKey,
    eventId: 'event',
    eventType: 'batch.failed',
    number: 1,
    maxAttempts: 3,
    round: 0,
    manual: false,
    leaseToken: '',
    webhookVersion: 1,
    leasedAt,
    body: Buffer.from('{}'),
    requestId: null,
    traceparent: null,
  });
  const leases = (webhookId: string, count: number) => Array.from({ length: count }, () => lease(webhookId));
  const started = (webhookId: string) => running.filter((entry) => entry.lease.webhookId === webhookId).length;
  const capacityOf = (kind: 'new' | 'due', webhookId: string) => {
    scheduler.startEligible();
    const capacity = scheduler.capacity(kind);
    const index = capacity.webhookIds.indexOf(webhookId);
    return index === -1 ? capacity.ofNewQueue : capacity.free[index];
  };
  return {
    scheduler,
    running,
    released,
    lease,
    leases,
    started,
    capacityOf,
    pass: (ms: number) => {
      now += ms;
    },
    refills: () => refills,
    offers: () => offers,
  };
}
