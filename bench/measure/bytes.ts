import type { Database } from '@enterprise-api/shared/ledger';
import { jobs } from '@enterprise-api/shared/queue';
import { Redis } from 'ioredis';
import { sql } from 'kysely';

/** Bytes on disk of everything in the ledger, indexes and TOAST with it. */
export async function ledgerBytes(db: Database): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    select sum(pg_total_relation_size(oid))::float8 as bytes from pg_class
    where relkind = 'r' and relnamespace = 'public'::regnamespace`.execute(db);
  return rows[0]?.bytes ?? Number.NaN;
}

/** The jobs that wait in the queue, and the memory of Redis. */
export interface QueuedJobs {
  jobs: number;
  usedMemory: number;
}

/** Counts the waiting jobs in BullMQ's own format, and reads the memory that Redis uses. */
export async function queuedJobs(url: string): Promise<QueuedJobs> {
  const redis = new Redis(url);
  try {
    const { queue } = jobs.fanOut;
    const waiting = await redis.llen(`{enterprise-api-${queue}}:${queue}:wait`);
    const memory = await redis.info('memory');
    return { jobs: waiting, usedMemory: Number(/used_memory:(\d+)/.exec(memory)?.[1] ?? Number.NaN) };
  } finally {
    redis.disconnect();
  }
}
