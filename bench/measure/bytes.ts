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

/** The events that wait in the queue, and the memory of Redis. */
export interface QueuedEvents {
  events: number;
  jobs: number;
  usedMemory: number;
}

/** Reads the waiting jobs in BullMQ's own format, and the memory that Redis uses. */
export async function queuedEvents(url: string): Promise<QueuedEvents> {
  const redis = new Redis(url);
  try {
    const { queue } = jobs.fanOut;
    const prefix = `{enterprise-api-${queue}}:${queue}`;
    const ids = await redis.lrange(`${prefix}:wait`, 0, -1);
    const reading = redis.pipeline();
    for (const id of ids) reading.hget(`${prefix}:${id}`, 'data');
    const answers = (await reading.exec()) ?? [];
    const events = answers.map(([, data]) => jobs.fanOut.data.parse(JSON.parse(String(data))).event_ids.length);
    const memory = await redis.info('memory');
    return {
      events: events.reduce((sum, each) => sum + each, 0),
      jobs: ids.length,
      usedMemory: Number(/used_memory:(\d+)/.exec(memory)?.[1] ?? Number.NaN),
    };
  } finally {
    redis.disconnect();
  }
}
