import { BoundedMap, type Clock } from '@enterprise-api/shared/runtime';

/**
 * Which keys authenticated from which address within the last hour, in memory. They are looked up even while the address
 * is blocked for too many failures: behind a shared proxy, the failures of one client must not lock out all others.
 */
export interface RecentSuccesses {
  /** @param digest SHA-256 of the key; the key itself is never kept */
  note(bucket: string, digest: string): void;
  has(bucket: string, digest: string): boolean;
  forget(bucket: string, digest: string): void;
}

/** A success is noted again only after this time: most requests then cost one read of the map. */
const noteEveryMs = 60_000;
/** An hour after the latest success, which may be newer than the noted one by the interval above. */
const rememberedMs = 3_600_000 + noteEveryMs;
const maxRemembered = 10_000;

export function createRecentSuccesses(clock: Pick<Clock, 'monotonic'>): RecentSuccesses {
  const notedAtMs = new BoundedMap<string, number>(maxRemembered);
  const ageMs = (id: string) => clock.monotonic() - (notedAtMs.get(id) ?? Number.NEGATIVE_INFINITY);
  return {
    note: (bucket, digest) => {
      const id = idOf(bucket, digest);
      if (ageMs(id) >= noteEveryMs) notedAtMs.set(id, clock.monotonic());
    },
    has: (bucket, digest) => ageMs(idOf(bucket, digest)) < rememberedMs,
    forget: (bucket, digest) => notedAtMs.delete(idOf(bucket, digest)),
  };
}

function idOf(bucket: string, digest: string): string {
  return `${digest} ${bucket}`;
}
