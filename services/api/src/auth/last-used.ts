import { type Clock, MicroBatcher, type Uuid } from '@enterprise-api/shared/runtime';

/** Records when keys were last used: outside of requests, in batches, and at most once a minute per key. */
export interface LastUsed {
  note(keyId: Uuid): void;
  flush(): Promise<void>;
}

interface KeyUse {
  keyId: Uuid;
  usedAt: Date;
}

export interface LastUsedOptions {
  write: (uses: readonly KeyUse[]) => Promise<void>;
  clock: Clock;
  onError: (error: unknown) => void;
}

const everyMs = 60 * 1_000;
const gatherMs = 500;

export function createLastUsed({ write, clock, onError }: LastUsedOptions): LastUsed {
  const notedAtMs = new Map<Uuid, number>();
  const forgetOld = () => {
    for (const [keyId, noted] of notedAtMs) if (clock.monotonic() - noted >= everyMs) notedAtMs.delete(keyId);
  };
  const batcher = new MicroBatcher<KeyUse, void>({
    run: (uses) => {
      forgetOld();
      return write(uses).catch(onError);
    },
    waitMs: gatherMs,
  });
  return {
    note: (keyId) => {
      const noted = notedAtMs.get(keyId);
      const now = clock.monotonic();
      if (noted !== undefined && now - noted < everyMs) return;
      notedAtMs.set(keyId, now);
      void batcher.add({ keyId, usedAt: new Date(clock.now()) });
    },
    flush: () => batcher.flush(),
  };
}
