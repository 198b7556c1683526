import { openTestDatabase } from '@enterprise-api/testkit';
import { expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { deleteLateDeliveries } from './row-queries.ts';

it('what is noted of late deliveries goes with the time it is about, some rows at a time', async () => {
  const { db, close } = await openTestDatabase();
  const before = new Date('2025-03-01T00:00:00Z');
  await sql`insert into late_deliveries (organization_id, created_until)
    select gen_random_uuid(), ${before}::timestamptz + n * interval '1 day' from generate_series(-3, 1) n`.execute(db);
  expect(await deleteLateDeliveries(db, before, 2)).toBe(2);
  expect(await deleteLateDeliveries(db, before, 2)).toBe(1);
  const { rows } = await sql<{ created_until: Date }>`select created_until from late_deliveries order by 1`.execute(db);
  expect(rows.map((row) => row.created_until.getUTCDate())).toEqual([1, 2]);
  await close();
});
