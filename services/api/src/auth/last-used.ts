import type { Clock } from '@enterprise-api/shared/runtime';

/** Notes when keys were last used: beside the requests, in groups, at most once a minute per key. */
export interface LastUsed {
  note(keyId: string): void;
  /** Writes what is noted; for the end of the process. */
  flush(): Promise<void>;
}

export interface LastUsedOptions {
  write: (uses: readonly { keyId: string; usedAt: Date }[]) => Promise<void>;
  clock: Clock;
  onError: (error: unknown) => void;
}

const everyMs = 60_000;
const gatherMs = 500;

export function createLastUsed({ write, clock, onError }: LastUsedOptions): LastUsed {
  const notedAtMs = new Map<string, number>();
  let waiting = new Map<string, Date>();
  let timer: NodeJS.Timeout | undefined;
  const flush = async (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    const uses = [...waiting].map(([keyId, usedAt]) => ({ keyId, usedAt }));
    waiting = new Map();
    for (const [keyId, noted] of notedAtMs) {
      if (clock.monotonic() - noted >= everyMs) notedAtMs.delete(keyId);
    }
    if (uses.length > 0) await write(uses).catch(onError);
  };
  return {
    note: (keyId) => {
      const noted = notedAtMs.get(keyId);
      const now = clock.monotonic();
      if (noted !== undefined && now - noted < everyMs) return;
      notedAtMs.set(keyId, now);
      waiting.set(keyId, new Date(clock.now()));
      timer ??= setTimeout(() => void flush(), gatherMs).unref();
    },
    flush,
  };
}
