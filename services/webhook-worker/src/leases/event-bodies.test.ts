import { describe, expect, it } from '@jest/globals';
import { EventBodies } from './event-bodies.ts';

const kib = (count: number) => ({ body: Buffer.alloc(count * 1_024), requestId: null, traceparent: null });
const leaseOf = (organizationId: string, eventId: string) => ({ organizationId, eventId });

describe('the bodies of events in memory', () => {
  it('count once per event until its last lease is over, and once more for each lease', () => {
    const bodies = new EventBodies(0);
    const leases = [leaseOf('org', 'event'), leaseOf('org', 'event')];
    for (const lease of leases) bodies.hold(lease, bodies.find('event') ?? kib(4));
    expect(bodies.bytes).toBe(3 * 4_096);
    const [first, second] = leases;
    for (const lease of [first, first]) if (lease) bodies.drop(lease);
    expect([bodies.bytes, bodies.find('event')?.body.length]).toEqual([2 * 4_096, 4_096]);
    if (second) bodies.drop(second);
    expect([bodies.bytes, bodies.find('event')]).toEqual([0, undefined]);
  });

  it('put no organization above its share while they fit into the budget', () => {
    const bodies = new EventBodies(18 * 1_024);
    bodies.hold(leaseOf('much', 'a'), kib(8));
    bodies.hold(leaseOf('little', 'b'), kib(1));
    expect(bodies.isAboveShare('much')).toBe(false);
  });

  it('put those above an equal share, and no others, above it while they take more than the budget', () => {
    const bodies = new EventBodies(16 * 1_024);
    const large = leaseOf('much', 'a');
    bodies.hold(large, kib(8));
    bodies.hold(leaseOf('little', 'b'), kib(1));
    expect([bodies.isAboveShare('much'), bodies.isAboveShare('little'), bodies.isAboveShare('new')]).toEqual([
      true,
      false,
      false,
    ]);
    bodies.drop(large);
    expect(bodies.isAboveShare('much')).toBe(false);
  });
});
