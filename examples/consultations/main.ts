// A whole internal service behind the API: it gets requests that the API has authenticated, does work that takes a while,
// and emits an event with the end of the work. README.md says what to copy.
import { readFileSync } from 'node:fs';
import { createEventProducer } from '@enterprise-api/shared/events';
import { createLoop } from '@enterprise-api/shared/runtime';
import { Kysely, PostgresDialect, sql } from 'kysely';
import { Pool } from 'pg';
import { createApp } from './app.ts';
import { createIdentityCheck } from './identity.ts';
import { endWork } from './work.ts';

const { DATABASE_URL, REDIS_URL, API_INTERNAL_URL, HOST = '127.0.0.1', PORT = '8080', WORK_MS = '500' } = process.env;
if (!DATABASE_URL || !API_INTERNAL_URL) throw new Error('Set DATABASE_URL and API_INTERNAL_URL.');
const onError = (error: unknown) => console.error(error);

const pool = new Pool({ connectionString: DATABASE_URL, application_name: 'consultations', max: 5 }).on(
  'error',
  onError,
);
const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
await sql.raw(readFileSync(new URL('./tables.sql', import.meta.url), 'utf8')).execute(db);
const producer = createEventProducer({ databaseUrl: DATABASE_URL, redisUrl: REDIS_URL || undefined, onError });
const run = async () => ((await endWork(db, producer)) ? 0 : 50);
const loop = createLoop({ run, onError, delayAfterErrorMs: 1_000 });
loop.start();

const organizationOf = createIdentityCheck(new URL('/internal/v1/jwks.json', API_INTERNAL_URL));
const app = createApp({ db, organizationOf, workMs: Number(WORK_MS), onError });
const server = app.listen(Number(PORT), HOST, (error) => {
  if (error) throw error;
  console.log(`listening on port ${PORT}`);
});

async function stop(): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeIdleConnections();
  await Promise.all([closed, loop.stop()]);
  await Promise.all([producer.close(), db.destroy()]);
}
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void stop());
