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
  /** Shown in `pg_stat_activity`, so that an operator sees whose connection it is. */
  applicationName: string;
  /** Connections at most. */
  poolSize: number;
  /** Server settings for these connections, such as {@link planProbes}. Behind a pooler nothing is set: see {@link LedgerPool}. */
  serverSettings?: Readonly<Record<string, string>>;
  /** Also prepares statements without a mark, for a library that writes its own. */
  preparesAll?: boolean;
  /** A connection that is not open by then has failed; 5 s by default. */
  connectWithinMs?: number;
  /** A connection without traffic for so long is cut; by default a little longer than a statement may run. */
  silentAfterMs?: number;
  /** The signal of what runs now: once it is aborted, statements and transactions that wait for a connection never begin. */
  signal?: () => AbortSignal | undefined;
  /** Called for errors of idle connections; the pool replaces them by itself. */
  onError?: (error: Error) => void;
}

/**
 * Opens a pool on the ledger. Nothing connects before the first query.
 *
 * Statements that hang are worse than statements that fail: an idle transaction ends after 10 s, a lock is waited for at
 * most 5 s, a statement runs at most 30 s.
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

/** A connection is asked for once per statement or transaction: an aborted one never begins. */
async function connectUnlessAborted(pool: Pool, signal: AbortSignal | undefined): Promise<PoolClient> {
  const client = await pool.connect();
  if (!signal?.aborted) return client;
  client.release();
  throw signal.reason;
}

const pools = new WeakMap<Database, Pool>();

/** How a pool is used at the moment, in connections; `waiting` counts statements and transactions. */
export interface PoolFigures {
  used: number;
  idle: number;
  max: number;
  waiting: number;
}

/** The pool beneath a database that {@link createDatabase} opened. */
export function poolFiguresOf(db: Database): PoolFigures {
  const pool = pools.get(db);
  if (pool === undefined) throw new Error('This database has no pool of its own.');
  const { totalCount, idleCount: idle, waitingCount } = pool;
  const { max } = pool.options;
  // A statement that gets an idle connection is in the pool's queue for a moment, too.
  const waiting = idle === 0 && totalCount >= max ? waitingCount : 0;
  return { used: totalCount - idle, idle, max, waiting };
}

/**
 * Longer than the pool's default of ten seconds, with which every burst opened new connections: 30 ms each, and as much
 * again until the statements are prepared. Shorter than {@link silentAfterMs}, which is for connections in use.
 */
const idleForMs = 30_000;

/**
 * For connections whose statements go from few rows to few rows by index, however much the tables hold. A prepared
 * statement keeps its plan until the table is analyzed: made when a month's partition was empty, it read the whole of it,
 * or of an index, at every use for the first minutes of that month (measured with 40,000 rows: fan-out 3.4 ms instead of
 * 2.0, outcomes 11.8 instead of 8.7, and growing). Over partitions PostgreSQL would plan each use anew, for the values at
 * hand: that took twice as long as running the statements (docs/adr/0042).
 */
export const planProbes = { enable_seqscan: 'off', enable_bitmapscan: 'off', plan_cache_mode: 'force_generic_plan' };

/** The pool beneath {@link createDatabase}. */
export function createPool(options: DatabaseOptions): Pool {
  const settings = options.serverSettings && !options.pooled ? setStatements(options.serverSettings) : undefined;
  const pool = new Pool({
    ...connectionSettings(options),
    max: options.poolSize,
    connectionTimeoutMillis: options.connectWithinMs ?? connectWithinMs,
    idleTimeoutMillis: idleForMs,
    // By a statement before the first use: a pooler of sessions refuses startup parameters that it does not know.
    ...(settings !== undefined && { verify: (client, done) => client.query(settings, (error) => done(error)) }),
  });
  pool.on('error', (error) => options.onError?.(error));
  // The pool listens to idle clients only. One in use that loses its server between two statements would otherwise end
  // the process with an unhandled event; its next statement fails, and the pool drops it.
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
 * The server ends every statement after 30 s, but a server that is gone silently (a lost host, a firewall that dropped
 * the connection) ends nothing: TCP would take a quarter of an hour, and a loop that awaits its statement would stall.
 */
function cutWhenSilent(client: PoolClient, ms: number): void {
  const { stream } = (client as PoolClient & { connection: { stream: Socket } }).connection;
  stream.setTimeout(ms, () => stream.destroy(new Error(`The database has been silent for ${ms} ms.`)));
}

/** SQLSTATE of a write on a server that follows another one. */
const readOnlyTransaction = '25006';

/**
 * After a failover a connection may lead to the server that has been the primary: it refuses every write for as long as it is
 * kept. Its statement fails as with a lost connection, and the next one looks for the primary anew.
 */
function cutWhenReadOnly(client: PoolClient): void {
  const { connection } = client as PoolClient & { connection: EventEmitter & { stream: Socket } };
  connection.on('errorMessage', ({ code }: { code?: string }) => {
    if (code === readOnlyTransaction)
      connection.stream.destroy(new Error('The database only reads: it follows another one.'));
  });
}

/** Settings that every connection to the ledger shares. */
export function connectionSettings(options: Pick<DatabaseOptions, 'url' | 'applicationName' | 'pooled'>): PoolConfig {
  return {
    connectionString: options.url,
    application_name: options.applicationName,
    connectionTimeoutMillis: connectWithinMs,
    // A pooler refuses startup parameters like these: behind one they are settings of the role.
    ...(!options.pooled && sessionTimeoutsMs),
    keepAlive: true,
    types: { getTypeParser: parserOf },
  };
}

const connectWithinMs = 5_000;
const silentAfterMs = 40_000;

const int8 = 20;

/** `count(*)` and other bigints of this ledger fit a double; as strings they only invite bugs. */
const parserOf: typeof types.getTypeParser = ((oid: number, format?: 'text') =>
  oid === int8 ? Number : types.getTypeParser(oid, format)) as typeof types.getTypeParser;
