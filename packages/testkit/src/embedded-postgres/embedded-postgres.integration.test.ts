import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ensureDatabase } from '../stores/test-database.ts';
import { postgresAccount } from './account.ts';
import { postgresBinaries } from './binaries.ts';
import { postgresEnvironment } from './data-folder.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded-postgres.ts';

/** Whatever an earlier run left in the data folder, the next start works or explains what to do. */
describe('startEmbeddedPostgres', () => {
  let folder: string;
  const said: string[] = [];
  const start = () => startEmbeddedPostgres(optionsFor(folder, (line) => said.push(line)));

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'enterprise-api-embedded-'));
    // As root, user postgres must get through to its data.
    chmodSync(folder, 0o711);
    said.length = 0;
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('keeps data and port from run to run', async () => {
    const first = await start();
    await ensureDatabase(first.url, 'kept');
    await first.stop();
    await using second = await start();
    expect({ created: second.created, port: second.port }).toEqual({ created: false, port: first.port });
    await expectDatabase(second, 'kept');
  });

  it('stops a server that an earlier run left behind, and keeps its data', async () => {
    const first = await start();
    await ensureDatabase(first.url, 'kept');
    await first.stop();
    const orphan = await startUnguarded(folder);
    await using again = await start();
    expect(said).toEqual([`A PostgreSQL of an earlier run is still there (process ${orphan}): stopping it.`]);
    await expectDatabase(again, 'kept');
  });

  it('starts despite a pid file whose number belongs to another program by now', async () => {
    await (await start()).stop();
    writeFileSync(join(folder, 'postgres/postmaster.pid'), `${process.pid}\n${folder}/postgres\n1\n`);
    await using again = await start();
    expect(again.created).toBe(false);
  });

  it('sets a new password when the file with the password is gone', async () => {
    const first = await start();
    await ensureDatabase(first.url, 'kept');
    await first.stop();
    rmSync(join(folder, 'postgres.json'));
    await using again = await start();
    expect(new URL(again.url).password).not.toBe(new URL(first.url).password);
    await expectDatabase(again, 'kept');
  });

  it('leaves no incomplete data folder when it is interrupted, and starts afterwards', async () => {
    const interruption = new AbortController();
    const options = optionsFor(folder, () => undefined);
    const onProgress = () => setImmediate(() => interruption.abort(new Error('interrupted')));
    const cut = startEmbeddedPostgres({ ...options, onProgress, signal: interruption.signal });
    await expect(cut).rejects.toThrow('interrupted');
    await using again = await start();
    expect(again.created).toBe(true);
  });

  it('explains what to do about data of another PostgreSQL version', async () => {
    await (await start()).stop();
    const file = join(folder, 'postgres/PG_VERSION');
    const version = readFileSync(file, 'utf8');
    writeFileSync(file, '15\n');
    await expect(start()).rejects.toThrow(/holds data of PostgreSQL 15, and this release brings PostgreSQL 18.*mv /);
    writeFileSync(file, version);
    await (await start()).stop();
  });

  it('refuses a folder that holds something else', async () => {
    const other = join(folder, 'postgres');
    await (await start()).stop();
    rmSync(join(other, 'PG_VERSION'));
    await expect(start()).rejects.toThrow('is no PostgreSQL data folder');
  });
});

function optionsFor(dataFolder: string, say: (line: string) => void) {
  return { dataFolder, database: 'demo', durable: false, say };
}

async function expectDatabase(postgres: EmbeddedPostgres, name: string): Promise<void> {
  const { pathname } = new URL(postgres.url);
  const other = postgres.url.replace(pathname, `/${name}`);
  // Connects to it, which fails when it is not there.
  await ensureDatabase(other, name);
}

/** A server on the data folder without a guard. */
async function startUnguarded(folder: string): Promise<number> {
  const data = join(folder, 'postgres');
  const account = postgresAccount(data, () => undefined);
  const { postgres } = await postgresBinaries(account, () => undefined);
  const flags = ['-c', 'listen_addresses=', '-c', `unix_socket_directories=${data}`];
  const server = spawn(postgres, ['-D', data, ...flags], {
    ...(account && { uid: account.uid, gid: account.gid }),
    cwd: '/',
    env: postgresEnvironment,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  for await (const line of createInterface({ input: server.stderr })) {
    if (line.includes('ready to accept connections')) break;
  }
  return server.pid as number;
}
