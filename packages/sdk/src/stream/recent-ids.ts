/** Remembers recent ids, to detect repeated ones. */
interface RecentIds {
  /** Returns true if the id is new, and remembers it. */
  isNew(id: string): boolean;
}

/** @param most how many ids to remember; beyond that, the oldest is forgotten */
export function createRecentIds(most = 10_000): RecentIds {
  const ids = new Set<string>();
  return {
    isNew: (id) => {
      if (ids.has(id)) return false;
      ids.add(id);
      const [oldest] = ids;
      if (ids.size > most && oldest !== undefined) ids.delete(oldest);
      return true;
    },
  };
}
