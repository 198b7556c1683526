import type { UsageArea } from '@enterprise-api/shared/contracts';
import { type Clock, newUuid, type Uuid } from '@enterprise-api/shared/runtime';
import { hourMs, startOfHour } from './hours.ts';

/** What is counted of a finished request; its context has it. */
export interface UsedRequest {
  organizationId?: Uuid;
  /** Undefined when the key is unknown: the request is counted for nobody. */
  keyId?: Uuid;
  area?: UsageArea | undefined;
  /** Whether this API refused the request by its headers. An internal service's refusal does not count. */
  isRefused?: boolean;
  /** Of our own answer: a request that was granted may still exceed the concurrency of its area. */
  errorCode?: string;
  /** Bytes of the body, as they came and as they were sent. */
  bytesIn: number;
  bytesOut: number;
}

/** Requests of one key to one area in one hour, since they were last written. */
export interface RequestCounts {
  readonly organizationId: Uuid;
  readonly keyId: Uuid;
  readonly area: UsageArea;
  /** When the hour begins, in milliseconds since 1970. */
  readonly hour: number;
  requests: number;
  refused: number;
  bytesIn: number;
  bytesOut: number;
}

/** Counts to be written at once. Writing a batch again, after its answer was lost, adds nothing. */
export interface CountsBatch {
  /** Of the process. */
  readonly writer: Uuid;
  /** Rises from batch to batch. */
  readonly sequence: number;
  readonly counts: readonly RequestCounts[];
}

/** Counts requests in memory, so that a request costs two look-ups, and writes the sums every few seconds. */
export interface UsageCounters {
  count(request: UsedRequest): void;
  /** Writes what was counted. When that fails, the counts are kept and written by the next call. */
  flush(): Promise<void>;
}

export interface UsageCountersOptions {
  write: (batch: CountsBatch) => Promise<void>;
  /** Says in which hour a request is counted. */
  clock: Pick<Clock, 'now'>;
  /** Called with the number of requests that could not be counted, because too much waits to be written. */
  onDropped: (requests: number) => void;
  /** Sums that wait to be written at most: about 10 MB. */
  maxCounts?: number;
}

export function createUsageCounters(options: UsageCountersOptions): UsageCounters {
  const { write, clock, onDropped, maxCounts = 50_000 } = options;
  const writer = newUuid();
  let sequence = 0;
  let current = emptySums();
  /**
   * The batch that is being written or will be written again. It never changes, because the database may have it
   * already.
   */
  let batch: CountsBatch | null = null;
  let dropped = 0;

  const add = (request: UsedRequest, organizationId: Uuid, keyId: Uuid, area: UsageArea) => {
    if (current.all.length + (batch?.counts.length ?? 0) >= maxCounts) {
      dropped += 1;
      return;
    }
    const hour = startOfHour(clock.now());
    addRequest(current.add({ organizationId, keyId, area, hour, ...nothing }), request);
  };
  const writeBatch = async () => {
    if (batch === null) return;
    await write(batch);
    batch = null;
  };
  return {
    count: (request) => {
      const { organizationId, keyId, area } = request;
      if (organizationId === undefined || keyId === undefined || area === undefined) return;
      current.turnTo(clock.now());
      const sum = current.find(area, keyId);
      if (sum === undefined) add(request, organizationId, keyId, area);
      else addRequest(sum, request);
    },
    flush: async () => {
      if (dropped > 0) onDropped(dropped);
      dropped = 0;
      await writeBatch();
      if (current.all.length === 0) return;
      batch = { writer, sequence: ++sequence, counts: current.all };
      current = emptySums();
      await writeBatch();
    },
  };
}

const nothing = { requests: 0, refused: 0, bytesIn: 0, bytesOut: 0 };

function addRequest(sum: RequestCounts, { isRefused, errorCode, bytesIn, bytesOut }: UsedRequest): void {
  sum.requests += 1;
  if (isRefused === true || errorCode === 'rate_limited') sum.refused += 1;
  sum.bytesIn += bytesIn;
  sum.bytesOut += bytesOut;
}

/** Sums, found by area and key within the present hour. */
function emptySums() {
  const all: RequestCounts[] = [];
  const byArea = new Map<UsageArea, Map<Uuid, RequestCounts>>();
  let endOfHour = Number.NEGATIVE_INFINITY;
  return {
    all,
    /** Sums of another hour are not looked up any more. */
    turnTo: (nowMs: number) => {
      if (nowMs < endOfHour && nowMs >= endOfHour - hourMs) return;
      byArea.clear();
      endOfHour = startOfHour(nowMs) + hourMs;
    },
    find: (area: UsageArea, keyId: Uuid) => byArea.get(area)?.get(keyId),
    add: (sum: RequestCounts) => {
      const byKey = byArea.get(sum.area) ?? new Map<Uuid, RequestCounts>();
      byArea.set(sum.area, byKey.set(sum.keyId, sum));
      all.push(sum);
      return sum;
    },
  };
}
