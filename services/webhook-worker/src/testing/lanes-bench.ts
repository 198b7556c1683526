import { afterEach } from '@jest/globals';
import type { Lease } from '../leases/lease.ts';
import { Lanes } from '../scheduler/scheduler.ts';

const benches: Lanes[] = [];

afterEach(() => {
  for (const lanes of benches.splice(0)) lanes.stop();
});

/** A bench for lanes: time stands still until a test moves it, and attempts end when a test says so. */
export function lanesBench(
  settings: { slots?: number; concurrency?: number; waiting?: number; perHost?: number } = {},
) {
  let now = 0;
  const running: {
    lease: Lease;
    canWait: boolean;
    connects: () => void;
    answer: () => void;
    end: (timedOut?: boolean) => Promise<void>;
  }[] = [];
  const handedBack: Lease[] = [];
  let refills = 0;
  let roomy = 0;
  const lanes = new Lanes({
    clock: { now: () => now, monotonic: () => now },
    slots: settings.slots ?? 10,
    limits: { concurrency: settings.concurrency ?? 3, waiting: settings.waiting ?? 20 },
    perHost: settings.perHost ?? 10_000,
    startWithinMs: 10_000,
    events: {
      run: (lease, { answered, canWait, connects }) => {
        const done = Promise.withResolvers<{ timedOut: boolean }>();
        running.push({
          lease,
          answer: answered,
          canWait,
          connects,
          end: async (timedOut = false) => {
            done.resolve({ timedOut });
            await done.promise;
            await Promise.resolve();
          },
        });
        return done.promise;
      },
      handBack: (leases) => handedBack.push(...leases),
      needsRefill: () => {
        refills += 1;
      },
      hasRoom: () => {
        roomy += 1;
      },
    },
  });
  benches.push(lanes);
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
    mark: '',
    webhookVersion: 1,
    leasedAt,
    body: '{}',
    requestId: null,
  });
  const leases = (webhookId: string, count: number) => Array.from({ length: count }, () => lease(webhookId));
  const started = (webhookId: string) => running.filter((entry) => entry.lease.webhookId === webhookId).length;
  const roomOf = (kind: 'new' | 'due', webhookId: string) => {
    const rooms = lanes.rooms(kind);
    const index = rooms.webhookIds.indexOf(webhookId);
    return index === -1 ? rooms.ofNewLane : rooms.free[index];
  };
  return {
    lanes,
    running,
    handedBack,
    lease,
    leases,
    started,
    roomOf,
    pass: (ms: number) => {
      now += ms;
    },
    refills: () => refills,
    roomy: () => roomy,
  };
}
