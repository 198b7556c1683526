import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { Kysely, PostgresDialect, type Transaction } from 'kysely';
import { Pool, type PoolClient, type PoolConfig, types } from 'pg';
import type { LedgerPool } from './ledger-address.ts';
import { prepareStatements } from './prepared.ts';
import type { Schema } from './schema.ts';
import { sessionTimeoutsMs } from './session-timeouts.ts';

export type Database = Kysely<Schema>;
export type DatabaseTransaction = Transaction<Schema>;

export interface DatabaseOptions extends LedgerPool {
  /** Appears in `pg_stat_activity`, so that operators can identify the connection. */
  applicationName: string;
  /** By default ten, as in pg. */
  poolSize?: number;
  /**
   * Server settings for these connections, such as {@link planProbes}. Ignored behind a pooler: see {@link LedgerPool}.
   */
  serverSettings?: Readonly<Record<string, string>>;
  /** Also prepares statements without the mark `prepared`, for a library that writes its own statements. */
  preparesAll?: boolean;
  /** The time limit for opening a connection; 5 s by default. */
  connectWithinMs?: number;
  /** Closes a connection after this time without traffic. The default is slightly longer than a statement may run. */
  silentAfterMs?: number;
  /**
   * Returns the signal of the current work. After the signal has aborted, statements and transactions that still wait
   * for a connection never begin.
   */
  signal?: () => AbortSignal | undefined;
  /** Called for errors of idle connections, which the pool replaces by itself. */
  onError?: (error: Error) => void;
}

/**
 * Opens a connection pool on the ledger. The pool connects at the first query.
 *
 * A statement must fail rather than hang. Limits: 10 s for an idle transaction, 5 s for a lock, 30 s per statement.
 */
export function createDatabase(options: DatabaseOptions): Database {
  const pool = createPool(options);
  const asking = {
    options: pool.options,
    connect: () => connectUnlessAborted(pool, options.signal?.()),
    end: () => pool.end(),
  };
  const db = new Kysely<Schema>({ dialect: new PostgresDialect({ pool: asking }) });
  pools.set(db, pool);
  return db;
}

/** Each statement or transaction requests its connection here before it begins, so aborted work never begins. */
async function connectUnlessAborted(pool: Pool, signal: AbortSignal | undefined): Promise<PoolClient> {
  const client = await pool.connect();
  if (!signal?.aborted) return client;
  client.release();
  throw signal.reason;
}

const pools = new WeakMap<Database, Pool>();

/** Connections of a pool by use. `waiting` counts statements and transactions that wait for a connection. */
export interface PoolFigures {
  used: number;
  idle: number;
  max: number;
  waiting: number;
}

export function poolFiguresOf(db: Database): PoolFigures {
  const pool = pools.get(db);
  if (pool === undefined) throw new Error('This database has no pool of its own.');
  const { totalCount, idleCount: idle, waitingCount } = pool;
  const { max } = pool.options;
  // Ignore the pool's queue while a connection is free, because every statement briefly waits in the queue.
  const waiting = idle === 0 && totalCount >= max ? waitingCount : 0;
  return { used: totalCount - idle, idle, max, waiting };
}

/**
 * Closes idle connections after this time. With the pool's default of ten seconds, every burst opened new connections.
 * Each connection took 30 ms to open and another 30 ms to prepare its statements. The time must be shorter than
 * {@link silentAfterMs}, which is meant for connections in use.
 */
const idleForMs = 30_000;

/**
 * Planner settings for statements that read few rows by index, however large the tables are. A prepared statement keeps
 * its plan until the table is analyzed. A plan made while the month's partition is empty would read a whole table at
 * every use. The first two settings prevent that. Without them, fan-out with 40,000 rows took 3.4 ms instead of 2.0 ms,
 * and the time kept growing. Without the third setting, PostgreSQL would plan statements on partitioned tables at each
 * use. Planning takes twice as long as running these statements (docs/adr/0012).
 */
export const planProbes = { enable_seqscan: 'off', enable_bitmapscan: 'off', plan_cache_mode: 'force_generic_plan' };

export function createPool(options: DatabaseOptions): Pool {
  const settings = options.serverSettings && !options.pooled ? setStatements(options.serverSettings) : undefined;
  const pool = new Pool({
    ...connectionSettings(options),
    ...(options.poolSize !== undefined && { max: options.poolSize }),
    connectionTimeoutMillis: options.connectWithinMs ?? connectWithinMs,
    idleTimeoutMillis: idleForMs,
    // A session pooler refuses unknown startup parameters, so a statement sets them on each new connection.
    ...(settings !== undefined && { verify: (client, done) => client.query(settings, (error) => done(error)) }),
  });
  pool.on('error', (error) => options.onError?.(error));
  // The pool handles errors of idle clients only. A client in use may lose its server between two statements. Without
  // this listener, its unhandled error event would end the process. With it, the next statement of the client fails,
  // and the pool drops the client.
  pool.on('connect', (client) => {
    client.on('error', () => undefined);
    cutWhenSilent(client, options.silentAfterMs ?? silentAfterMs);
    cutWhenReadOnly(client);
    if (options.prepared !== false) prepareStatements(client, options.preparesAll ? 'all' : 'marked');
  });
  return pool;
}

function setStatements(settings: Readonly<Record<string, string>>): string {
  return Object.entries(settings)
    .map(([name, value]) => `set ${name} = ${value}`)
    .join('; ');
}

/**
 * Closes a connection whose server silently disappeared (lost host, firewall). A server that still runs ends every
 * statement after 30 s. TCP alone would notice the loss only after 15 minutes, and a loop that awaits its statement
 * would stall until then.
 */
function cutWhenSilent(client: PoolClient, ms: number): void {
  const { stream } = (client as PoolClient & { connection: { stream: Socket } }).connection;
  stream.setTimeout(ms, () => stream.destroy(new Error(`The database has been silent for ${ms} ms.`)));
}

/** The SQLSTATE of a write on a replica. */
const readOnlyTransaction = '25006';

/**
 * After a failover, a connection may still lead to the former primary, which refuses every write. If the connection is
 * closed, its statement fails. The next statement opens a connection and looks for the primary again.
 */
function cutWhenReadOnly(client: PoolClient): void {
  const { connection } = client as PoolClient & { connection: EventEmitter & { stream: Socket } };
  connection.on('errorMessage', ({ code }: { code?: string }) => {
    if (code === readOnlyTransaction)
      connection.stream.destroy(new Error('The database is read-only: it is a replica.'));
  });
}

export function connectionSettings(options: Pick<DatabaseOptions, 'url' | 'applicationName' | 'pooled'>): PoolConfig {
  return {
    connectionString: options.url,
    application_name: options.applicationName,
    connectionTimeoutMillis: connectWithinMs,
    // A pooler refuses these startup parameters, so behind a pooler they are settings of the role.
    ...(!options.pooled && sessionTimeoutsMs),
    keepAlive: true,
    types: { getTypeParser: parserOf },
  };
}

const connectWithinMs = 5_000;
const silentAfterMs = 40_000;

/** `count(*)` and other bigints of this ledger fit a double. By default, pg returns strings, which invite bugs. */
const parserOf: typeof types.getTypeParser = ((oid: number, format?: 'text') =>
  oid === types.builtins.INT8 ? Number : types.getTypeParser(oid, format)) as typeof types.getTypeParser;
