import { createDatabase } from '@enterprise-api/shared/ledger';
import { sql } from 'kysely';
import { keepOpen } from './old-months.ts';

// A process of its own for a test, to be killed: it locks all events that wait, as a worker that fans them out, and goes no further.
const db = createDatabase({ url: process.env.DATABASE_URL ?? '', applicationName: 'locks-outbox', poolSize: 1 });
await db.transaction().execute(async (trx) => {
  await keepOpen(trx);
  await sql`select event_id from outbox for update`.execute(trx);
  process.stdout.write('locked\n');
  await new Promise((resolve) => setTimeout(resolve, 600_000));
});
