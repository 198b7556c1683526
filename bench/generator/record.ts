import { nowMs } from '../clock.ts';
import { idLength, type LoadResult } from './load.ts';

const eventIdStart = Buffer.from('"evt_');

/** Records the times and the answer of each request. */
export function createRecord(count: number) {
  const result: LoadResult = {
    dueAt: new Float64Array(count),
    sentAt: new Float64Array(count),
    answeredAt: new Float64Array(count),
    statuses: new Uint16Array(count),
    eventIds: new Uint8Array(count * idLength),
    startedAt: nowMs(),
    endedAt: 0,
  };
  return {
    sent: (index: number, dueAt?: number) => {
      const now = nowMs();
      result.sentAt[index] = now;
      result.dueAt[index] = dueAt ?? now;
    },
    answered: (index: number, status: number, bytes: Buffer) => {
      result.answeredAt[index] = nowMs();
      result.statuses[index] = status;
      const at = bytes.indexOf(eventIdStart) + eventIdStart.length;
      if (at >= eventIdStart.length) result.eventIds.set(bytes.subarray(at, at + idLength), index * idLength);
    },
    /** The record of the first `sent` requests. */
    finish: (sent: number): LoadResult => ({
      dueAt: result.dueAt.subarray(0, sent),
      sentAt: result.sentAt.subarray(0, sent),
      answeredAt: result.answeredAt.subarray(0, sent),
      statuses: result.statuses.subarray(0, sent),
      eventIds: result.eventIds.subarray(0, sent * idLength),
      startedAt: result.startedAt,
      endedAt: nowMs(),
    }),
  };
}
