import { nowMs } from '../clock.ts';
import { Connection } from './connection.ts';
import type { ClosedLoad, Load, LoadResult, OpenLoad } from './load.ts';
import { createRecord } from './record.ts';

/** Sends a load. @returns the times and the answer of each request */
export async function runLoad(load: Load): Promise<LoadResult> {
  const connections = Array.from({ length: load.connections }, () => new Connection(load));
  try {
    return await (load.kind === 'closed' ? runClosed(load, connections) : runOpen(load, connections));
  } finally {
    for (const connection of connections) connection.destroy();
  }
}

async function runClosed(load: ClosedLoad, connections: Connection[]): Promise<LoadResult> {
  const record = createRecord(load.count);
  const choose = createChoice(load);
  const done = Promise.withResolvers<void>();
  const until = nowMs() + (load.withinMs ?? Number.POSITIVE_INFINITY);
  let next = 0;
  let answered = 0;
  const sendNext = (connection: Connection) => {
    if (next === load.count || nowMs() > until) return;
    const index = next++;
    record.sent(index);
    connection.send(choose(index), (status, bytes) => {
      record.answered(index, status, bytes);
      answered += 1;
      sendNext(connection);
      if (answered === next) done.resolve();
    });
  };
  for (const connection of connections) sendNext(connection);
  await done.promise;
  return record.finish(next);
}

async function runOpen(load: OpenLoad, free: Connection[]): Promise<LoadResult> {
  const count = Math.round(load.perSecond * load.seconds);
  const record = createRecord(count);
  const choose = createChoice(load);
  const done = Promise.withResolvers<void>();
  const startedAt = nowMs();
  const dueAt = (index: number) => startedAt + (index * 1_000) / load.perSecond;
  let next = 0;
  let left = count;
  // A due request that finds every connection busy waits, and its waiting counts: latency starts at its due time.
  const sendDue = () => {
    while (next < count && free.length > 0 && dueAt(next) <= nowMs()) {
      const index = next++;
      const connection = free.pop() as Connection;
      record.sent(index, dueAt(index));
      connection.send(choose(index), (status, bytes) => {
        record.answered(index, status, bytes);
        free.push(connection);
        left -= 1;
        if (left === 0) done.resolve();
        else if (free.length === 1) sendDue();
      });
    }
  };
  const tick = () => {
    sendDue();
    if (next < count) setTimeout(tick, Math.max(0, dueAt(next) - nowMs()));
  };
  tick();
  await done.promise;
  return record.finish(count);
}

function createChoice({ requests, picks }: Load): (index: number) => Uint8Array {
  return (index) => {
    const pick = picks === undefined ? index % requests.length : (picks[index % picks.length] ?? 0);
    return requests[pick] as Uint8Array;
  };
}
