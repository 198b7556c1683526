import { outsideAddressesShown } from '@enterprise-api/shared/contracts';
import type { Clock, Uuid } from '@enterprise-api/shared/runtime';
import type { OutsideUses } from './queries.ts';

/** How often the gathered requests are written. Operators see a request within 10 s. */
export const writeOutsideUsesEveryMs = 2_000;

/** Gathers requests from outside the allowlists of keys in the mode `report`, so that no request waits for a write. */
export function createOutsideUses(write: (uses: readonly OutsideUses[]) => Promise<void>, clock: Pick<Clock, 'now'>) {
  let gathered = new Map<Uuid, OutsideUses>();
  const gather = (newer: OutsideUses) => {
    const older = gathered.get(newer.keyId);
    const isSameList = older?.allowlist.join() === newer.allowlist.join();
    gathered.set(newer.keyId, older !== undefined && isSameList ? joined(older, newer) : newer);
  };
  return {
    note: (keyId: Uuid, allowlist: readonly string[], address: string) =>
      gather({ keyId, allowlist, count: 1, lastAt: new Date(clock.now()), addresses: [address] }),
    flush: async () => {
      const written = gathered;
      if (written.size === 0) return;
      gathered = new Map();
      try {
        await write([...written.values()]);
      } catch (error) {
        const meanwhile = gathered;
        gathered = written;
        for (const uses of meanwhile.values()) gather(uses);
        throw error;
      }
    },
  };
}

function joined(older: OutsideUses, newer: OutsideUses): OutsideUses {
  const addresses = [...new Set([...newer.addresses, ...older.addresses])].slice(0, outsideAddressesShown);
  return { ...newer, count: older.count + newer.count, addresses };
}
