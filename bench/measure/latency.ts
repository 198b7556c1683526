import type { LoadResult } from '../generator/load.ts';
import type { Received } from '../receiver/calls.ts';
import { idsOf } from './audit.ts';

/** Milliseconds from the due time of an event's request to the arrival of the first attempt of each delivery. */
export function latencies(load: LoadResult, received: Received, counts: (webhook: number) => boolean = () => true) {
  const due = new Map(idsOf(load.eventIds).map((id, index) => [id, load.dueAt[index] as number]));
  const values: number[] = [];
  idsOf(received.eventIds).forEach((id, index) => {
    const dueAt = due.get(id);
    const isFirst = received.attempts[index] === 1 && counts(received.webhooks[index] as number);
    if (dueAt !== undefined && isFirst) values.push((received.at[index] as number) - dueAt);
  });
  return Float64Array.from(values);
}
