import { createDatabase, type Database } from '@enterprise-api/shared/ledger';
import { newUuid } from '@enterprise-api/shared/runtime';
import { type FaultProxy, openTestDatabase, startFaultProxy, throughProxy } from '@enterprise-api/testkit';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { sql } from 'kysely';
import { createUsageCounters, type UsageCounters } from './counters.ts';
import { hourMs } from './hours.ts';
import { addRequestCounts } from './queries.ts';

let db: Database;
let close: () => Promise<void>;
let proxy: FaultProxy;
/** Of the process that counts: its connections break. */
let breakable: Database;
beforeAll(async () => {
  const database = await openTestDatabase();
  ({ db, close } = database);
  const { hostname, port } = new URL(database.url);
  proxy = await startFaultProxy({ host: hostname, port: Number(port) });
  const url = throughProxy(database.url, proxy);
  breakable = createDatabase({ url, applicationName: 'test', poolSize: 2, silentAfterMs: 150 });
});
afterAll(async () => {
  await breakable.destroy();
  await proxy.close();
  await close();
});

const organizationId = newUuid();
const keyIds = [newUuid(), newUuid(), newUuid()];
const areas = ['me', 'webhooks', 'usage'] as const;
const begin = Date.UTC(2026, 10, 22, 7);

/** What happens to the statement that writes the counts, and whether it has written them then. */
const faults = {
  none: () => undefined,
  'is not sent': () => proxy.refuse('usage_requests'),
  'is not answered': () => proxy.stall('usage_requests', { lasting: true }),
};
type Fault = keyof typeof faults;
type Step =
  | { kind: 'request'; key: number; area: number; hour: number }
  | { kind: 'flush'; fault: Fault }
  | { kind: 'kill' };

const steps = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant('request'),
        key: fc.nat({ max: 2 }),
        area: fc.nat({ max: 2 }),
        hour: fc.nat({ max: 2 }),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant('flush'),
        fault: fc.constantFrom(...(Object.keys(faults) as Fault[])),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('kill') }) },
  ),
  { maxLength: 40 },
) as fc.Arbitrary<Step[]>;

/** A process that counts, and an account of what it must have written. */
function createProcess(handle: () => Database) {
  let now = begin;
  let counters: UsageCounters;
  let current: string[] = [];
  /** What the last statement had, while its answer is not known. */
  let batch: { requests: string[]; isWritten: boolean } | null = null;
  const written: string[] = [];
  const start = () => {
    counters = createUsageCounters({
      write: (counts) => addRequestCounts(handle(), counts),
      clock: { now: () => now },
      onDropped: (requests) => expect(requests).toBe(0),
    });
    current = [];
    batch = null;
  };
  const writeBatch = (fault: Fault) => {
    if (batch === null || fault === 'is not sent') return;
    if (!batch.isWritten) written.push(...batch.requests);
    batch.isWritten = true;
    if (fault === 'none') batch = null;
  };
  start();
  return {
    written,
    request: ({ key, area, hour }: Extract<Step, { kind: 'request' }>) => {
      now = begin + hour * hourMs + 60_000;
      const [keyId, name] = [keyIds[key] as string, areas[area] as (typeof areas)[number]];
      counters.count({ organizationId, keyId, area: name, isRefused: false, bytesIn: 1, bytesOut: 1 });
      current.push(`${hour} ${keyId} ${name}`);
    },
    flush: async (fault: Fault) => {
      faults[fault]();
      await Promise.allSettled([counters.flush()]);
      proxy.restore();
      writeBatch(fault);
      if (batch !== null) return;
      batch = { requests: current, isWritten: false };
      current = [];
      writeBatch(fault);
      if (batch?.requests.length === 0) batch = null;
    },
    kill: start,
  };
}

async function stored(): Promise<Map<string, number>> {
  const rows = await db.selectFrom('usage_requests').selectAll().execute();
  for (const row of rows) expect([row.bytes_in, row.bytes_out]).toEqual([row.requests, row.requests]);
  return new Map(
    rows.map((row) => [`${(row.hour.getTime() - begin) / hourMs} ${row.key_id} ${row.area}`, row.requests]),
  );
}

it('counts every request once, except in a killed process, whichever statement is lost, unanswered or repeated', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      await sql`truncate usage_requests, usage_writers`.execute(db);
      const counting = createProcess(() => breakable);
      for (const step of all) {
        if (step.kind === 'request') counting.request(step);
        else if (step.kind === 'flush') await counting.flush(step.fault);
        else counting.kill();
      }
      await counting.flush('none');
      const expected = new Map<string, number>();
      for (const name of counting.written) expected.set(name, (expected.get(name) ?? 0) + 1);
      expect(await stored()).toEqual(expected);
    }),
    { numRuns: 25, endOnFailure: true },
  );
});

it('lets processes with common keys write at the same time, without a deadlock', async () => {
  await sql`truncate usage_requests, usage_writers`.execute(db);
  const rounds = 10;
  const processes = Array.from({ length: 4 }, () => {
    const counters = createUsageCounters({
      write: (batch) => addRequestCounts(db, batch),
      clock: { now: () => begin },
      onDropped: () => undefined,
    });
    return async (number: number) => {
      const keys = Array.from(
        { length: 200 },
        (_, index) => `00000000-0000-7000-8000-${String(index).padStart(12, '0')}`,
      );
      // Each process meets the keys in another order.
      for (let round = 0; round < rounds; round++) {
        for (const keyId of number % 2 === 0 ? keys : keys.toReversed()) {
          counters.count({ organizationId, keyId, area: 'me', isRefused: false, bytesIn: 1, bytesOut: 1 });
        }
        await counters.flush();
      }
    };
  });
  await Promise.all(processes.map((run, number) => run(number)));
  const counts = [...(await stored()).values()];
  expect([counts.length, new Set(counts)]).toEqual([200, new Set([4 * rounds])]);
});
