// A whole internal service behind the API: it gets requests that the API has authenticated, does work that takes a while,
// and emits an event with the end of the work. README.md says what to copy.
import { readFileSync } from 'node:fs';
import { createEventProducer } from '@enterprise-api/shared/events';
import { createIdentifyCaller } from '@enterprise-api/shared/internal-service';
import { createDatabase } from '@enterprise-api/shared/ledger';
import { createLoop } from '@enterprise-api/shared/runtime';
import { sql } from 'kysely';
import { createApp } from './app.ts';
import { endWork } from './work.ts';

const { DATABASE_URL, REDIS_URL, API_INTERNAL_URL, HOST = '127.0.0.1', PORT = '8080', WORK_MS = '500' } = process.env;
if (!DATABASE_URL || !API_INTERNAL_URL) throw new Error('Set DATABASE_URL and API_INTERNAL_URL.');
const onError = (error: unknown) => console.error(error);

const db = createDatabase({ url: DATABASE_URL, applicationName: 'consultations', poolSize: 5, onError });
await sql.raw(readFileSync(new URL('./tables.sql', import.meta.url), 'utf8')).execute(db);
const producer = createEventProducer({ databaseUrl: DATABASE_URL, redisUrl: REDIS_URL || undefined, onError });
const run = async () => ((await endWork(db, producer)) ? 0 : 50);
const loop = createLoop({ run, onError, everyMs: 1_000 });
loop.start();

const identify = createIdentifyCaller(API_INTERNAL_URL);
const app = createApp({ db, identify, workMs: Number(WORK_MS), onError });
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
