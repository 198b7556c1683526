import { type Clock, MicroBatcher, type Uuid } from '@enterprise-api/shared/runtime';
import type { KeyUse } from './queries.ts';

/** Records the last uses of keys. Writes in batches, outside of requests, at most once a minute per key. */
export interface LastUsed {
  note(keyId: Uuid, origin: Origin): void;
  flush(): Promise<void>;
}

/** Where a request came from. */
export interface Origin {
  readonly address: string;
  /** The header as the client sent it. */
  readonly userAgent: string | undefined;
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
    note: (keyId, { address, userAgent }) => {
      const noted = notedAtMs.get(keyId);
      const now = clock.monotonic();
      if (noted !== undefined && now - noted < everyMs) return;
      notedAtMs.set(keyId, now);
      void batcher.add({ keyId, usedAt: new Date(clock.now()), address, userAgent: shownUserAgent(userAgent) });
    },
    flush: () => batcher.flush(),
  };
}

const maxUserAgentLength = 200;

/** Clients choose the header freely, so only printable ASCII is stored. */
function shownUserAgent(header: string | undefined): string | null {
  return header?.replace(/[^ -~]/g, '').slice(0, maxUserAgentLength) || null;
}
