import type { Database } from '@enterprise-api/shared/ledger';
import { Redis } from 'ioredis';
import { sql } from 'kysely';

/** Places where a secret might have ended up, by name, as text to search. */
export type SearchedPlaces = Map<string, string>;

/** Every row of every table, as text. */
export async function databaseRows(db: Database): Promise<SearchedPlaces> {
  const { rows: tables } = await sql<{ name: string }>`
    select format('%I.%I', schemaname, tablename) as name from pg_tables
    where schemaname not in ('pg_catalog', 'information_schema')`.execute(db);
  const found: SearchedPlaces = new Map();
  for (const { name } of tables) {
    const { rows } = await sql<{ row: string }>`select t::text as row from ${sql.raw(name)} t`.execute(db);
    found.set(`table ${name}`, rows.map(({ row }) => row).join('\n'));
  }
  return found;
}

export interface RedisWatch {
  /** Every command since, and every key with its value. */
  read(): Promise<SearchedPlaces>;
  close(): void;
}

/** Records all commands from now on, so that values which are deleted later are found too. */
export async function watchRedis(url: string): Promise<RedisWatch> {
  const redis = new Redis(url);
  const monitor = await redis.monitor();
  const commands: string[] = [];
  monitor.on('monitor', (_time: string, args: string[]) => commands.push(args.join(' ')));
  return {
    read: async () => {
      const values: string[] = [];
      for (const key of await redis.keys('*')) values.push(`${key} ${await valueOfKey(redis, key)}`);
      return new Map([
        ['commands to Redis', commands.join('\n')],
        ['keys in Redis', values.join('\n')],
      ]);
    },
    close: () => {
      monitor.disconnect();
      redis.disconnect();
    },
  };
}

async function valueOfKey(redis: Redis, key: string): Promise<string> {
  const readers: Record<string, () => Promise<unknown>> = {
    string: () => redis.get(key),
    hash: () => redis.hgetall(key),
    list: () => redis.lrange(key, 0, -1),
    set: () => redis.smembers(key),
    zset: () => redis.zrange(key, 0, '-1'),
    stream: () => redis.xrange(key, '-', '+'),
    none: async () => '',
  };
  const type = await redis.type(key);
  const read = readers[type];
  if (read === undefined) throw new Error(`${key} is a ${type}, which searched-places.ts does not read: add it there.`);
  return JSON.stringify(await read());
}

/** The places in which a secret was found, without its value. */
export function findSecrets(places: SearchedPlaces, secrets: Readonly<Record<string, string>>): string[] {
  return [...places].flatMap(([place, text]) =>
    Object.entries(secrets)
      .filter(([, secret]) => text.includes(secret))
      .map(([name]) => `${name} in ${place}`),
  );
}
