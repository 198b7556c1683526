import { createDatabase, migrate } from '@enterprise-api/shared/ledger';
import {
  archiveWal,
  type BaseBackup,
  createApiClient,
  createApiCustomer,
  createWalArchive,
  type RedisServer,
  startOwnPostgres,
  takeBaseBackup,
  until,
  type WalArchive,
} from '@enterprise-api/testkit';
import { sql } from 'kysely';
import { conclude, type Finding, untilSettled } from '../faults/finding.ts';
import { type FaultStage, openFaultStage, quickLeases } from '../faults/stage.ts';
import { type Destroyed, idempotentWebhook, later } from './destroyed.ts';
import { applyExport, checkErased, emitErasable, eraseAndExport } from './erased.ts';
import { followList } from './event-list.ts';
import { startLoad } from './load.ts';
import { checkRestored } from './restored.ts';
import { withoutItsKeys } from './without-keys.ts';

/** A system under load is destroyed, and restored up to a point from a base backup and archived WAL. */
export interface RestoreDrill {
  eventsPerSecond: number;
  /** Events before the base backup, between it and the restore point, and behind the point: these are lost. */
  events: { before: number; between: number; behind: number };
  settleWithinMs: number;
}

/** Every two seconds, for as long as the receiver refuses; a 404 opens no circuit. */
const settings = {
  ...quickLeases,
  WEBHOOK_RETRY_SCHEDULE: Array.from({ length: 100 }, () => '2s').join(','),
  WEBHOOK_RETRY_JITTER: '0',
};

const restorePoint = 'drill';

/** @param startRedis starts one, empty */
export async function restoreToPoint(size: RestoreDrill, startRedis: () => Promise<RedisServer>): Promise<Finding> {
  using archive = createWalArchive();
  await using primary = await startOwnPostgres({ settings: archive.archiving });
  await using redis = await startRedis();
  await using stage = await openFaultStage({ redisUrl: redis.url, postgres: primary }, settings);
  const backup = () => takeBaseBackup(primary, archive.backupFolder);
  const state = { isDestroyed: false };
  stage.requests.respond(({ path }) => ({ status: path === later && !state.isDestroyed ? 404 : 200 }));
  const destroyed = await runAndDestroy(stage, size, { backup, archive: () => archiveWal(primary.url) });
  await primary.crash();
  await redis.crash();
  const startedAt = performance.now();
  await using restored = await startRestored(archive, destroyed.backup);
  const recoveredAt = performance.now();
  await using db = createDatabase({ url: restored.url, applicationName: 'drill', poolSize: 2 });
  const migrated = await migrate(restored.url);
  // Positions that were given behind the restore point must not be given again: lists would go on behind new events.
  await sql`select setval('event_positions', nextval('event_positions') + 1000000000)`.execute(db);
  await using empty = await startRedis();
  const places = { DATABASE_URL: restored.url, REDIS_URL: empty.url };
  const onRestored: FaultStage = { ...stage, db, startApi: (own) => stage.startApi({ ...places, ...own }) };
  onRestored.startWorker = (own) => stage.startWorker({ ...places, ...own });
  const applied = await applyExport(restored.url, destroyed.exported);
  const keyless = await withoutItsKeys(onRestored, destroyed);
  state.isDestroyed = true;
  const [api] = await Promise.all([onRestored.startApi(), onRestored.startWorker()]);
  const customer = createApiClient(api, { key: destroyed.customer.key });
  const checks = await checkRestored({ stage: onRestored, api, customer, destroyed });
  const { count = 0 } = (await sql<{ count: number }>`select count(*) from events`.execute(db)).rows[0] ?? {};
  await untilSettled(onRestored, count * 2, size.settleWithinMs);
  const kept = new Set((await followList(customer)).ids);
  const arrived = arrivedSince(stage, destroyed.at);
  const lost = destroyed.before.filter(({ id }) => !kept.has(id)).length;
  const figures = {
    'accepted before the point': destroyed.before.length,
    'accepted behind the point, lost': destroyed.accepted.filter(({ id }) => !kept.has(id)).length,
    'sent twice': arrived.filter(({ deliveryId }) => destroyed.delivered.has(deliveryId)).length,
    'recovery of the database (ms)': Math.round(recoveredAt - startedAt),
  };
  const waiting = new Set(arrived.filter(({ path }) => path === later).map(({ publicEventId }) => publicEventId));
  // The pending delivery of the erased event is canceled.
  return await conclude(onRestored, count * 2 - 1, figures, {
    [`${lost} events from before the restore point are lost`]: lost === 0,
    'a delivery that was pending did not arrive': destroyed.before.every(({ id }) => waiting.has(id)),
    [`migrations of the same version: ${migrated.join()}`]: migrated.length === 0,
    [`the export of erasures was applied with ${applied}`]: applied === 0,
    ...(await checkErased(customer, destroyed.erased)),
    ...keyless,
    ...checks,
  });
}

function startRestored(archive: WalArchive, backup: BaseBackup) {
  return startOwnPostgres({
    settings: { ...archive.restoring, recovery_target_name: restorePoint },
    from: { backup, recovery: 'target' },
  });
}

interface Keeping {
  backup: () => Promise<BaseBackup>;
  /** Ends when all WAL up to now is archived. */
  archive: () => Promise<void>;
}

/** Runs the system under load, takes the backup and sets the restore point while it does, then kills it. */
async function runAndDestroy(stage: FaultStage, { eventsPerSecond, events }: RestoreDrill, keeping: Keeping) {
  const [api, worker] = await Promise.all([stage.startApi(), stage.startWorker()]);
  const customer = await createApiCustomer(api);
  const fields = { events: ['consultation.*'] };
  const { secret } = await customer.createWebhook(stage.url(), fields);
  await customer.createWebhook(stage.url(later), fields);
  const keyed = await idempotentWebhook(customer, stage.url('/keyed'));
  const erased = await emitErasable(customer);
  await using load = startLoad(api.internalUrl, customer, eventsPerSecond);
  const untilAccepted = (count: number) =>
    until(`${count} accepted`, () => load.accepted.length, { holds: (found) => found >= count, withinMs: 60_000 });
  await untilAccepted(events.before);
  const backup = await keeping.backup();
  await untilAccepted(load.accepted.length + events.between);
  const cursorBefore = (await followList(customer)).cursor;
  const before = [...load.accepted];
  await sql`select pg_create_restore_point(${restorePoint})`.execute(stage.db);
  await untilAccepted(load.accepted.length + events.behind);
  const exported = await eraseAndExport(customer);
  const cursorBehind = (await followList(customer)).cursor;
  await keeping.archive();
  for (const service of [api, worker]) service.kill('SIGKILL');
  await Promise.all([api.exited, worker.exited, load.stop()]);
  const sent = stage.requests.sent.filter(({ path }) => path !== later);
  const delivered = new Set(sent.map(({ deliveryId }) => deliveryId));
  const { accepted } = load;
  const cursors = { before: cursorBefore, behind: cursorBehind };
  const at = Date.now();
  const emitted = { before, accepted, delivered, erased, exported };
  return { backup, ...emitted, customer, secret, keyed, cursors, at } satisfies Destroyed & {
    backup: BaseBackup;
  };
}

function arrivedSince(stage: FaultStage, at: number) {
  return stage.requests.sent.filter((request) => request.at >= at);
}
