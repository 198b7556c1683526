import { spawnSync } from 'node:child_process';
import type { EmitEventInput } from '@enterprise-api/shared/contracts';
import { createApiClient, nodeArguments, type ServiceProcess, startPeer } from '@enterprise-api/testkit';
import { sql } from 'kysely';
import type { FaultStage } from '../faults/stage.ts';
import type { Emit } from './moving-load.ts';
import type { ProducerCalls } from './producer-main.ts';

/** One version of the product: the folder of its files. */
export interface Version {
  readonly folder: string;
  readonly isEarlier: boolean;
}

/** Makes the ledger what the version's own migration makes of an empty database. */
export async function makeLedgerOf(
  { folder }: Version,
  { db, databaseUrl }: Pick<FaultStage, 'db' | 'databaseUrl'>,
): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    select nspname as name from pg_namespace where nspname !~ '^pg_' and nspname <> 'information_schema'`.execute(db);
  for (const { name } of rows) await sql`drop schema ${sql.ref(name)} cascade`.execute(db);
  await sql`create schema public`.execute(db);
  const env = { PATH: process.env.PATH, DATABASE_URL: databaseUrl };
  const migration = spawnSync(process.execPath, nodeArguments('migrate', folder), {
    cwd: folder,
    env,
    encoding: 'utf8',
  });
  if (migration.status !== 0) throw new Error(`The migration of ${folder} failed: ${migration.stderr}`);
}

/** Emits by HTTP. */
export function emitByApi(api: ServiceProcess, organizationId: string, { isEarlier }: Version): Emit {
  const { emit } = createApiClient(api, { isEarlier });
  return async (key) => {
    const { status, text } = await emit([upgradeEvent(organizationId, key)]);
    if (status !== 202) throw new Error(`${status} ${text}`);
  };
}

/** An internal service that emits with the shared package of a version. */
export interface Producer extends AsyncDisposable {
  /** In its own transaction, and through the queue alone. */
  readonly emits: readonly Emit[];
}

/** @param place where the ledger and the queue are */
export async function startProducer(
  { folder }: Version,
  place: { databaseUrl: string; redisUrl: string | undefined },
  organizationId: string,
): Promise<Producer> {
  const peer = await startPeer<ProducerCalls>(new URL('producer-main.ts', import.meta.url));
  await peer.call('open', { project: folder, ...place });
  const emitBy =
    (by: 'transaction' | 'queue'): Emit =>
    (key) =>
      peer.call('emit', { by, event: upgradeEvent(organizationId, key) });
  return { emits: [emitBy('transaction'), emitBy('queue')], [Symbol.asyncDispose]: peer.close };
}

/** The key is in the body too: an event that came through the queue has no id before a worker has written it. */
function upgradeEvent(organizationId: string, key: string): EmitEventInput {
  return {
    organization_id: organizationId,
    type: 'consultation.completed',
    data: { consultation_id: 'con_1', key },
    id: key,
  };
}
