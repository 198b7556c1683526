import type { Database } from '@enterprise-api/shared/ledger';
import { createLogger, systemClock } from '@enterprise-api/shared/runtime';
import { describe, expect, it } from '@jest/globals';
import type { Lease } from './lease.ts';
import { LeaseLoader } from './lease-loader.ts';

/** A loader with a budget of so many bytes. `lease` leases a delivery of an event, whose body comes along. */
function loaderWithin(bodyBudgetBytes: number) {
  const accepted: Lease[] = [];
  const loader = new LeaseLoader({
    db: {} as Database,
    clock: systemClock,
    log: createLogger('test', 'silent'),
    scheduler: {
      isStopped: false,
      accept: (leases) => void accepted.push(...leases),
      noteDueRows: () => undefined,
    },
    webhooks: { get: async () => null },
    leaseMs: 0,
    bodyBudgetBytes,
    onReleased: () => undefined,
  });
  const lease = async (organization_id: string, event_id: string, kib: number) => {
    const row = { id: 'delivery', webhook_id: 'webhook', webhook_version: 1, organization_id, event_id };
    const others = { event_type: 'batch.failed' as const, attempt_count: 0, max_attempts: 1, round: 0 };
    const content = { body: 'x'.repeat(kib * 1_024), accepted_at: 0, manual: false, test: false, lease_token: 'token' };
    await loader.accept([{ ...row, ...others, ...content }], systemClock.monotonic());
    const newest = accepted.at(-1);
    if (newest === undefined) throw new Error('the lease was released');
    return newest;
  };
  return { loader, lease };
}

describe('the bodies of events in memory', () => {
  it('count once per event until its last lease is over, and once more for each lease', async () => {
    const { loader, lease } = loaderWithin(1_024 ** 2);
    const [first, second] = [await lease('org', 'event', 4), await lease('org', 'event', 4)];
    expect([loader.bodyBytes, first.body === second.body]).toEqual([3 * 4_096, true]);
    for (const each of [first, first]) loader.end(each);
    expect(loader.bodyBytes).toBe(2 * 4_096);
    loader.end(second);
    expect(loader.bodyBytes).toBe(0);
  });

  it('put no organization above its share while they fit into the budget', async () => {
    const { loader, lease } = loaderWithin(18 * 1_024);
    await lease('much', 'a', 8);
    await lease('little', 'b', 1);
    expect(loader.organizationsAboveShare()).toEqual([]);
  });

  it('put those above an equal share, and no others, above it while they take more than the budget', async () => {
    const { loader, lease } = loaderWithin(16 * 1_024);
    const large = await lease('much', 'a', 8);
    await lease('little', 'b', 1);
    expect(loader.organizationsAboveShare()).toEqual(['much']);
    loader.end(large);
    expect(loader.organizationsAboveShare()).toEqual([]);
  });
});
