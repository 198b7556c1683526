import { openTestDatabase } from '@enterprise-api/testkit';
import { expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { newUuid } from '../runtime/ids.ts';
import { countInvariantViolations } from './ledger-figures.ts';

it('a delivery that is pending without waiting, or waits without being pending, breaks the invariant', async () => {
  const { db, close } = await openTestDatabase();
  await sql`
    insert into deliveries (id, organization_id, webhook_id, event_id, event_type, status, max_attempts)
    values (${newUuid()}, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'batch.failed', 'pending', 3)`.execute(
    db,
  );
  expect(await countInvariantViolations(db, 10)).toBe(1);
  await sql`
    insert into pending_deliveries (delivery_id, webhook_id, organization_id, event_id, event_type, next_attempt_at,
      max_attempts)
    select id, webhook_id, organization_id, event_id, event_type, now(), max_attempts from deliveries`.execute(db);
  expect(await countInvariantViolations(db, 10)).toBe(0);
  await sql`update pending_deliveries set round = 1`.execute(db);
  expect(await countInvariantViolations(db, 10)).toBe(1);
  await sql`update deliveries set status = 'failed'`.execute(db);
  await sql`update pending_deliveries set round = 0`.execute(db);
  expect(await countInvariantViolations(db, 10)).toBe(1);
  await sql`delete from deliveries`.execute(db);
  expect(await countInvariantViolations(db, 10)).toBe(1);
  await close();
});
