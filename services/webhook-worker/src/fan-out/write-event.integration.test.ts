import type { Database } from '@enterprise-api/shared/ledger';
import type { JobData } from '@enterprise-api/shared/queue';
import { newUuid, systemClock, toPublicId } from '@enterprise-api/shared/runtime';
import { insertOrganization, openTestDatabase } from '@enterprise-api/testkit';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { testBox } from '../testing/ledger.ts';
import { writeQueuedEvent } from './write-event.ts';

let db: Database;
let close: () => Promise<void>;

beforeAll(async () => {
  ({ db, close } = await openTestDatabase());
});
afterAll(() => close());

const minutes = 60_000;
/** The database's clock, so many milliseconds from now. */
const clockAt = (offsetMs: number) => ({ now: () => systemClock.now() + offsetMs });

it.each([
  ['within five minutes', [0, 4 * minutes], undefined],
  ['more than five minutes later', [0, 6 * minutes], undefined],
  ['more than five minutes later, each time', [6 * minutes, 12 * minutes], undefined],
  ['more than five minutes later, with an id of its caller', [0, 6 * minutes], 'order-7'],
])('writes one event when its job runs again %s', async (_, offsets, id) => {
  const organizationId = await insertOrganization(db);
  const event = {
    organization_id: toPublicId('org', organizationId),
    type: 'batch.completed',
    data: { batch_id: 'b' },
  };
  const job = { version: 1, event_id: newUuid(), event: { ...event, ...(id !== undefined && { id }) } } as const;
  const written: string[] = [];
  for (const offsetMs of offsets) {
    written.push(
      await writeQueuedEvent(
        { db, clock: clockAt(offsetMs), box: testBox },
        { job: job as JobData<'writeEvent'>, addedAt: Date.now(), traceparent: undefined },
      ),
    );
  }
  const events = await db.selectFrom('events').select('id').where('organization_id', '=', organizationId).execute();
  expect(events).toHaveLength(1);
  expect(new Set(written)).toEqual(new Set(events.map((row) => row.id)));
});
