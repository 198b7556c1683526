/** Counts requests under way. */
export interface ConcurrencyLimit {
  /** @returns false when there are too many under this key; otherwise one more is under way until `leave` */
  enter(key: string): boolean;
  leave(key: string): void;
}

export function createConcurrencyLimit(max: number): ConcurrencyLimit {
  const underWay = new Map<string, number>();
  return {
    enter: (key) => {
      const count = underWay.get(key) ?? 0;
      if (count >= max) return false;
      underWay.set(key, count + 1);
      return true;
    },
    leave: (key) => {
      const left = (underWay.get(key) ?? 1) - 1;
      if (left === 0) underWay.delete(key);
      else underWay.set(key, left);
    },
  };
}
