import { spawnSync } from 'node:child_process';
import { migrate } from '@enterprise-api/shared/ledger';
import { checkOutVersion, type EarlierVersion, queueBackends, requireToolchain } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { conclude, stopAll, untilSettled } from '../faults/finding.ts';
import { type FaultStage, openFaultStage } from '../faults/stage.ts';
import { startMovingLoad } from './moving-load.ts';

let earlier: EarlierVersion;

beforeAll(() => {
  earlier = checkOutVersion(requireToolchain('release'));
}, 300_000);
afterAll(() => earlier[Symbol.dispose]());

/** Each phase lasts until so many events more have been accepted. */
const eventsOfPhase = 40;

describe.each(queueBackends())('an upgrade from the released version, queued on $name', ({ start }) => {
  it('loses nothing: the earlier services on the new ledger, both side by side, then the new ones alone', async () => {
    await using resources = new AsyncDisposableStack();
    const { redisUrl } = resources.adopt(await start(), ({ close }) => close());
    await using stage = await openFaultStage({ redisUrl });
    await migrateAsEarlier(stage, earlier.folder);
    const { organizationId } = await stage.subscribe(['/one', '/two']);
    const ofEarlier = { project: earlier.folder, withinMs: 60_000 };
    const before = await Promise.all([stage.startApi({}, ofEarlier), stage.startWorker({}, ofEarlier)]);
    await using load = startMovingLoad(before[0].internalUrl, organizationId);
    await load.accepts(eventsOfPhase);
    await migrate(stage.databaseUrl);
    await load.accepts(eventsOfPhase);
    const after = await Promise.all([stage.startApi(), stage.startWorker()]);
    await load.sendTo(before[0].internalUrl, after[0].internalUrl);
    await load.accepts(eventsOfPhase);
    await load.sendTo(after[0].internalUrl);
    const exits = await stopAll(before);
    await load.accepts(eventsOfPhase);
    await load.stop();
    const deliveries = load.accepted * 2;
    await untilSettled(stage, deliveries, 60_000);
    const { broken } = await conclude(
      stage,
      deliveries,
      {},
      {
        [`refused: ${load.refused.join()}`]: load.refused.length === 0,
        [exits.join('; ')]: exits.length === 0,
      },
    );
    expect(broken).toEqual([]);
  }, 240_000);
});

/** Makes the ledger what the earlier version's own migration makes of an empty database. */
async function migrateAsEarlier({ db, databaseUrl }: FaultStage, folder: string): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    select nspname as name from pg_namespace where nspname !~ '^pg_' and nspname <> 'information_schema'`.execute(db);
  for (const { name } of rows) await sql`drop schema ${sql.ref(name)} cascade`.execute(db);
  await sql`create schema public`.execute(db);
  const { status, stderr } = spawnSync(process.execPath, ['packages/shared/src/ledger/migrate-main.ts'], {
    cwd: folder,
    env: { PATH: process.env.PATH, DATABASE_URL: databaseUrl },
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`The earlier version's migration failed: ${stderr}`);
}
