import { answerCalls } from '@enterprise-api/testkit/peer-calls';
// oxlint-disable-next-line no-restricted-imports -- a baseline: BullMQ as its documentation shows it
import { Worker } from 'bullmq';
import { Pool } from 'pg';
// oxlint-disable-next-line no-restricted-imports -- a baseline: what sending costs with nothing around it
import { Agent, request } from 'undici';
import type { WorkerCalls } from './got-worker-main.ts';
import {
  type DeliveryJob,
  queueName,
  redisAt,
  signedHeaders,
  type WorkerOptions,
  workerConcurrency,
} from './outbound.ts';

// B3: one job, one POST with undici; results are inserted a hundred at a time, and the job waits for its row.
answerCalls({ work } satisfies WorkerCalls);

const table = 'create table if not exists results (url text, status int, ms int, at timestamptz default now())';
const insert = 'insert into results (url, status, ms) select * from unnest($1::text[], $2::int[], $3::int[])';
const rowsPerInsert = 100;
const insertAfterMs = 10;

type Row = { url: string; status: number; ms: number };

async function work({ redisUrl, databaseUrl, ca }: WorkerOptions): Promise<void> {
  const pool = new Pool({ connectionString: databaseUrl, max: 4 });
  await pool.query(table);
  const dispatcher = new Agent({ connections: 20, connect: { ca } });
  const record = createRecorder(async (rows) => {
    await pool.query(insert, [rows.map(({ url }) => url), rows.map(({ status }) => status), rows.map(({ ms }) => ms)]);
  });
  const worker = new Worker<DeliveryJob>(
    queueName,
    async ({ data: { url, body } }) => {
      const startedAt = performance.now();
      const answer = await request(url, { method: 'POST', headers: signedHeaders(body), body, dispatcher });
      await answer.body.dump();
      await record({ url, status: answer.statusCode, ms: Math.round(performance.now() - startedAt) });
    },
    { connection: redisAt(redisUrl), concurrency: workerConcurrency },
  );
  await worker.waitUntilReady();
}

function createRecorder(write: (rows: Row[]) => Promise<void>): (row: Row) => Promise<void> {
  let batch: { rows: Row[]; written: PromiseWithResolvers<void>; timer: NodeJS.Timeout } | undefined;
  const flush = () => {
    if (batch === undefined) return;
    const { rows, written, timer } = batch;
    batch = undefined;
    clearTimeout(timer);
    write(rows).then(written.resolve, written.reject);
  };
  return (row) => {
    batch ??= { rows: [], written: Promise.withResolvers(), timer: setTimeout(flush, insertAfterMs) };
    const { rows, written } = batch;
    rows.push(row);
    if (rows.length === rowsPerInsert) flush();
    return written.promise;
  };
}
