import { createDatabase, type Database } from '@enterprise-api/shared/ledger';
import {
  type FaultProxy,
  insertOrganization,
  insertWebhook,
  openTestDatabase,
  startFaultProxy,
  throughProxy,
} from '@enterprise-api/testkit';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { restartDelivery } from '../redelivery/queries.ts';
import {
  countedHours,
  countNaively,
  deliverAt,
  forgetHistory,
  insertAttemptAt,
  insertDeliveryAt,
  insertEventAt,
  untilComplete,
} from '../testing/usage-history.ts';
import { hourMs, startOfHour } from './hours.ts';
import { createSpanCounter } from './rollup.ts';

const minute = 60_000;
const begin = startOfHour(Date.now()) - 30 * hourMs;
const end = begin + 29 * hourMs;

let db: Database;
let close: () => Promise<void>;
let proxy: FaultProxy;
/** Of the process that counts: its connections break. */
let breakable: Database;
let webhooks: { organizationId: string; webhookId: string }[];
beforeAll(async () => {
  const database = await openTestDatabase();
  ({ db, close } = database);
  const { hostname, port } = new URL(database.url);
  proxy = await startFaultProxy({ host: hostname, port: Number(port) });
  const url = throughProxy(database.url, proxy);
  breakable = createDatabase({ url, applicationName: 'test', poolSize: 2, silentAfterMs: 150 });
  webhooks = await Promise.all(
    [0, 1].map(async () => {
      const organizationId = await insertOrganization(db);
      return { organizationId, webhookId: await insertWebhook(db, { organizationId }) };
    }),
  );
});
afterAll(async () => {
  await breakable.destroy();
  await proxy.close();
  await close();
});

/** What happens to the process that counts the next span. */
const faults = {
  none: () => undefined,
  'dies before it counts': () => proxy.refuse('insert into usage_ledger'),
  'dies before its commit': () => proxy.refuse('commit'),
  'does not hear of its commit': () => proxy.stall('commit', { lasting: true }),
};
type Fault = keyof typeof faults;

/** One thing that happens; `place` chooses when (of the time that is not counted yet) and to which row. */
type Step =
  | { kind: 'emit' | 'fanOut' | 'fail' | 'deliver' | 'redeliver'; place: number; lateBy: number }
  | { kind: 'count'; fault: Fault; together: boolean };

const steps = fc.array(
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        kind: fc.constantFrom('emit', 'fanOut', 'fail', 'deliver', 'redeliver'),
        place: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        lateBy: fc.constantFrom(0, 1_000, 9 * minute, 11 * minute, 3 * hourMs),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('count' as const),
        fault: fc.constantFrom(...(Object.keys(faults) as Fault[])),
        together: fc.boolean(),
      }),
    },
  ),
  { minLength: 5, maxLength: 40 },
) as fc.Arbitrary<Step[]>;

async function countedUntil(): Promise<number> {
  const { counted_until } = await db.selectFrom('usage_progress').select('counted_until').executeTakeFirstOrThrow();
  return counted_until?.getTime() ?? begin;
}

/** Whether so much is counted that nothing can happen any more. */
const isOver = async () => (await countedUntil()) >= end;

/** The rows of one history, as a ledger gets them: each is written at a time that is not counted yet. */
function createHistory() {
  const events: { id: string; at: number; webhookId: string }[] = [];
  const deliveries: { id: string; at: number; organizationId: string; isPending: boolean }[] = [];
  const organizations = new Map(webhooks.map(({ webhookId, organizationId }) => [webhookId, organizationId] as const));
  const pick = <Item>(items: Item[], place: number) => items[Math.floor(place * items.length)];
  const timeAfter = async (after: number, place: number) => {
    const from = Math.max(after, await countedUntil());
    return Math.min(Math.floor(from + (end - from) * place), end - 1);
  };
  const emit = async (place: number) => {
    const { organizationId, webhookId } = webhooks[events.length % 2] as (typeof webhooks)[number];
    const at = await timeAfter(begin, place);
    events.push({ id: await insertEventAt(db, organizationId, at, (place - 0.5) * 10 * minute), at, webhookId });
  };
  const fanOut = async (place: number) => {
    const event = pick(events, place);
    if (event === undefined) return;
    events.splice(events.indexOf(event), 1);
    const at = await timeAfter(event.at, place / 4);
    const id = await insertDeliveryAt(db, event.id, event.webhookId, at);
    deliveries.push({ id, at, organizationId: organizations.get(event.webhookId) ?? '', isPending: true });
  };
  const attempt = async (kind: 'fail' | 'deliver', place: number, lateBy: number) => {
    const delivery = pick(
      deliveries.filter((each) => each.isPending),
      place,
    );
    if (delivery === undefined) return;
    const started = await timeAfter(delivery.at, place / 4);
    const recorded = Math.min(started + lateBy, end - 1);
    if (kind === 'fail') return insertAttemptAt(db, delivery.id, started, recorded);
    delivery.isPending = false;
    return deliverAt(db, delivery.id, started, recorded);
  };
  const redeliver = async (place: number) => {
    const delivery = pick(
      deliveries.filter((each) => !each.isPending),
      place,
    );
    if (delivery === undefined) return;
    await db.transaction().execute((trx) => restartDelivery(trx, delivery.organizationId, delivery.id));
    delivery.isPending = true;
  };
  return { emit, fanOut, attempt, redeliver };
}

async function perform(history: ReturnType<typeof createHistory>, step: Exclude<Step, { kind: 'count' }>) {
  const { kind, place, lateBy } = step;
  if (kind === 'emit') return history.emit(place);
  if (kind === 'fanOut') return history.fanOut(place);
  return kind === 'redeliver' ? history.redeliver(place) : history.attempt(kind, place, lateBy);
}

it('agree with a count of every row, whatever happens between and whichever process dies', async () => {
  await fc.assert(
    fc.asyncProperty(steps, fc.constantFrom(20 * minute, hourMs, 3 * hourMs), async (all, spanMs) => {
      await forgetHistory(db, new Date(begin));
      await untilComplete(db);
      const history = createHistory();
      for (const step of all) {
        if (await isOver()) break;
        if (step.kind !== 'count') {
          await perform(history, step);
          continue;
        }
        faults[step.fault]();
        const processes = step.together ? [breakable, db] : [breakable];
        await Promise.allSettled(processes.map((each) => createSpanCounter(each, spanMs)()));
        proxy.restore();
      }
      const count = createSpanCounter(db, spanMs);
      await untilComplete(db);
      while ((await count()) === 'some');
      expect(await countedHours(db)).toEqual(await countNaively(db));
    }),
    { numRuns: 15, endOnFailure: true },
  );
});
