import { insertOrganization, openTestDatabase, testEvent, untilLockWait } from '@enterprise-api/testkit';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import type { Database } from '../ledger/index.ts';
import { newUuid } from '../runtime/index.ts';
import { type NewEvent, newEvent, type WrittenEvent, writeEvents } from './write-events.ts';

let db: Database;
let close: () => Promise<void>;
let organizationId: string;

beforeAll(async () => {
  ({ db, close } = await openTestDatabase());
  organizationId = await insertOrganization(db);
});
afterAll(() => close());

const keyed = (id: string) => newEvent(testEvent(organizationId, { id }), Date.now());
const withId = (id: string) => newEvent(testEvent(organizationId), Date.now(), { id });

/**
 * One transaction has written the first event and not committed. Another writes the last and the first, handed in that
 * order: it must wait for the first without having written the last. A third can then write the last at once, so that two
 * writers of the same events cannot deadlock.
 *
 * @returns what the third transaction wrote
 */
async function writeLastWhileFirstIsHeld(first: () => NewEvent, last: () => NewEvent): Promise<WrittenEvent[]> {
  const held = await db.transaction().execute(async (holder) => {
    await writeEvents(holder, [first()]);
    const both = writeEvents(db, [last(), first()]);
    await untilLockWait(db);
    const written = await db.transaction().execute(async (third) => {
      await sql`set local lock_timeout = '500ms'`.execute(third);
      return writeEvents(third, [last()]);
    });
    return { both, written };
  });
  await held.both;
  return held.written;
}

it('writes the keys of events in one order for any order of the events', async () => {
  const written = await writeLastWhileFirstIsHeld(
    () => keyed('a'),
    () => keyed('b'),
  );
  expect(written).toMatchObject([{ duplicate: false }]);
});

it('writes events in the order of their ids for any order of the arguments', async () => {
  const [first, last] = [newUuid(), newUuid()].sort() as [string, string];
  const written = await writeLastWhileFirstIsHeld(
    () => withId(first),
    () => withId(last),
  );
  expect(written).toMatchObject([{ id: last, duplicate: false }]);
});
