import type { UsageArea } from '@enterprise-api/shared/contracts';
import { type Clock, newUuid, type Uuid } from '@enterprise-api/shared/runtime';
import { startOfHour } from './hours.ts';

/** A request to count. Its key is known, and its path belongs to an area or to this API. */
export interface UsedRequest {
  readonly organizationId: Uuid;
  readonly keyId: Uuid;
  readonly area: UsageArea;
  /** Whether the checks of its key or a limit of this API refused the request. Answers of services do not count. */
  readonly isRefused: boolean;
  readonly bytesIn: number;
  readonly bytesOut: number;
}

/** Requests of one key to one area in one hour, since the last flush. */
export interface RequestCounts {
  readonly organizationId: Uuid;
  readonly keyId: Uuid;
  readonly area: UsageArea;
  /** Start of the hour, in milliseconds since 1970. */
  readonly hour: number;
  requests: number;
  refused: number;
  bytesIn: number;
  bytesOut: number;
}

/** A batch may be written twice, for example if the response is lost. The second write adds nothing. */
export interface CountsBatch {
  readonly writer: Uuid;
  readonly sequence: number;
  readonly counts: readonly RequestCounts[];
}

export interface UsageCounters {
  count(request: UsedRequest): void;
  /** Writes the counts so far. If the write fails, the next call writes them again. */
  flush(): Promise<void>;
}

export interface UsageCountersOptions {
  write: (batch: CountsBatch) => Promise<void>;
  clock: Pick<Clock, 'now'>;
  /** Called with the number of dropped requests if too many counts wait for the database. */
  onDropped: (requests: number) => void;
  /** Maximum number of sums that wait for the database: about 10 MB. */
  maxCounts?: number;
}

export function createUsageCounters(options: UsageCountersOptions): UsageCounters {
  const { write, clock, onDropped, maxCounts = 50_000 } = options;
  const writer = newUuid();
  let sequence = 0;
  let sums = new Map<string, RequestCounts>();
  /** The batch that is being written or must be written again. Never change it: the database may already have it. */
  let batch: CountsBatch | null = null;
  let dropped = 0;

  const writeBatch = async () => {
    if (batch === null) return;
    await write(batch);
    batch = null;
  };
  return {
    count: ({ organizationId, keyId, area, isRefused, bytesIn, bytesOut }) => {
      const hour = startOfHour(clock.now());
      const id = `${hour} ${area} ${keyId}`;
      const sum = sums.get(id) ?? {
        organizationId,
        keyId,
        area,
        hour,
        requests: 0,
        refused: 0,
        bytesIn: 0,
        bytesOut: 0,
      };
      if (sum.requests === 0 && sums.size + (batch?.counts.length ?? 0) >= maxCounts) {
        dropped += 1;
        return;
      }
      sums.set(id, sum);
      sum.requests += 1;
      if (isRefused) sum.refused += 1;
      sum.bytesIn += bytesIn;
      sum.bytesOut += bytesOut;
    },
    flush: async () => {
      if (dropped > 0) onDropped(dropped);
      dropped = 0;
      await writeBatch();
      if (sums.size === 0) return;
      batch = { writer, sequence: ++sequence, counts: [...sums.values()] };
      sums = new Map();
      await writeBatch();
    },
  };
}
