/** Ids that came lately, should one come twice. */
interface RecentIds {
  /** Whether the id comes for the first time; from then on it is known. */
  isNew(id: string): boolean;
}

/** @param most how many ids are remembered; beyond it the oldest is forgotten */
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
