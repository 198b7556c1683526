import type { Change, Database } from '@enterprise-api/shared/ledger';
import { createLogger, toPublicId } from '@enterprise-api/shared/runtime';
import { openTestDatabase, until } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { leaseDueDeliveries } from '../dispatch/queries.ts';
import { fanOutEvents } from '../fan-out/queries.ts';
import { createWorkerMetrics } from '../metrics.ts';
import { recordOutcomes } from '../outcomes/record-outcomes.ts';
import { emitEvents, findDelivery, findHealth, leaseDeliveries, outcomeOf, plenty } from '../testing/ledger.ts';
import { createAutoDisable } from './auto-disable.ts';
import { createPendingCancellation } from './pending-cancellation.ts';
import { createRecoveries } from './recoveries.ts';

let db: Database;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ db, close } = await openTestDatabase());
});
afterAll(() => close());

const metrics = createWorkerMetrics(undefined);
const log = createLogger('webhook-worker', 'info', { write: () => undefined });
const canary = { consultation_id: 'con_canary', patient: 'canary' };

async function disable(reason: 'failing' | 'gone', { autoRecover = true } = {}) {
  const leased = await leaseDeliveries(db, 2, 3, { data: canary });
  const { webhookId } = leased;
  await sql`update webhooks set auto_recover = ${autoRecover} where id = ${webhookId}`.execute(db);
  await sql`insert into webhook_health (webhook_id, failed_attempts, first_failure_at, openings, open_until)
    values (${webhookId}, 20, now() - interval '6 days', 3, now() + interval '1 hour')`.execute(db);
  const cancellation = createPendingCancellation({ db, log });
  const options = { db, log, changes: { publish: async () => undefined }, cancellation, metrics };
  await createAutoDisable(options).disable(webhookId, reason, 1);
  await cancellation.stop();
  return { ...leased, probeId: (await find(webhookId)).recovery_probe_id ?? '' };
}

const find = (id: string) => db.selectFrom('webhooks').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
const pendingOf = (webhookId: string) =>
  db.selectFrom('pending_deliveries').selectAll().where('webhook_id', '=', webhookId).execute();
const leaseDue = async (webhookId: string) => {
  const page = { cursor: '00000000-0000-0000-0000-000000000000', visit: 100, rows: 100, from: null };
  const { leases, notEnabled } = await leaseDueDeliveries(db, page, plenty, 45_000);
  return { leases: leases.filter((lease) => lease.webhook_id === webhookId), notEnabled };
};
async function bodyOf(eventId: string): Promise<string> {
  const { body } = await db
    .selectFrom('event_bodies')
    .select('body')
    .where('event_id', '=', eventId)
    .executeTakeFirstOrThrow();
  return body;
}

describe('a webhook that was disabled', () => {
  it('as failing gets a probe with 168 attempts, which carries no data of a customer', async () => {
    const { webhookId, organizationId, probeId } = await disable('failing');
    const pending = await pendingOf(webhookId);
    expect(pending).toMatchObject([{ delivery_id: probeId, max_attempts: 168, test: true, manual: false }]);
    const body = await bodyOf(pending[0]?.event_id ?? '');
    expect(JSON.parse(body)).toEqual({
      id: expect.any(String),
      type: 'webhook.test',
      timestamp: expect.any(String),
      organization_id: toPublicId('org', organizationId),
      data: { webhook_id: toPublicId('whk', webhookId), message: 'This is a test event.' },
      test: true,
    });
    expect(body).not.toContain('canary');
  });

  it.each([
    ['as gone', 'gone', true],
    ['without auto_recover', 'failing', false],
  ] as const)('%s gets none', async (_name, reason, autoRecover) => {
    const { webhookId } = await disable(reason, { autoRecover });
    expect(await pendingOf(webhookId)).toEqual([]);
    expect(await find(webhookId)).toMatchObject({ disabled_reason: reason, recovery_probe_id: null });
  });

  it('is probed while its circuit is open; a failure leaves its health and its state alone', async () => {
    const { webhookId, probeId } = await disable('failing');
    const health = await findHealth(db, webhookId);
    const { leases } = await leaseDue(webhookId);
    expect(leases.map((lease) => lease.id)).toEqual([probeId]);
    const [lease] = leases;
    const failed = { countsForHealth: false, countsForBreaker: false, delayMs: 3_600_000 };
    if (lease !== undefined) await recordOutcomes(db, [outcomeOf(lease, failed)]);
    expect(await findHealth(db, webhookId)).toEqual(health);
    expect(await findDelivery(db, probeId)).toMatchObject({ status: 'pending', attempt_count: 1 });
    expect(await find(webhookId)).toMatchObject({ state: 'disabled', recovery_probe_id: probeId });
    const later = await leaseDue(webhookId);
    expect(later.leases).toEqual([]);
    expect(later.notEnabled).not.toContain(webhookId);
  });

  it('is enabled once by several workers after its probe succeeded; nothing else is sent', async () => {
    const { webhookId, organizationId, leases: canceled } = await disable('failing');
    const skipped = await emitEvents(db, organizationId, 3, { data: canary });
    await fanOutEvents(db, skipped, plenty, { leaseMs: 45_000, maxAttempts: 3 });
    const [lease] = (await leaseDue(webhookId)).leases;
    if (lease !== undefined)
      await recordOutcomes(db, [outcomeOf(lease, { result: 'delivered', countsForHealth: false })]);
    const published: Change[] = [];
    const changes = { publish: async (change: Change) => void published.push(change) };
    const loops = [0, 1, 2].map(() => createRecoveries({ db, log, changes }, (error) => expect(error).toBeUndefined()));
    for (const loop of loops) loop.start();
    const row = await until('the recovery', () => find(webhookId), { holds: ({ state }) => state === 'enabled' });
    await until('the change', async () => published.length > 0);
    for (const loop of loops) await loop.stop();
    expect(row).toMatchObject({ disabled_reason: null, recovery_probe_id: null, auto_recover: true, version: 3 });
    expect(published).toEqual([{ kind: 'webhook', id: webhookId }]);
    expect(await findHealth(db, webhookId)).toMatchObject({ failed_attempts: 0, first_failure_at: null, openings: 0 });
    expect(await pendingOf(webhookId)).toEqual([]);
    for (const { id } of canceled) expect((await findDelivery(db, id)).status).toBe('canceled');
    const audit = db.selectFrom('audit_log').selectAll().where('object_id', '=', webhookId);
    expect(await audit.where('action', '=', 'webhook.recovered').execute()).toMatchObject([
      { actor: 'webhook-worker', changed_fields: ['enabled', 'disabled_reason'] },
    ]);
    const { rows } = await sql<{ id: string }>`select id from events
      where organization_id = ${organizationId} and type = 'webhook.recovered'`.execute(db);
    expect(JSON.parse(await bodyOf(rows[0]?.id ?? '')).data).toMatchObject({
      cause: 'probe',
      skipped: 3,
      replay: { since: expect.any(String), status: ['skipped'] },
    });
    expect(rows).toHaveLength(1);
  });

  it('stays disabled if its probe has ended meanwhile, also when the receiver then accepts it', async () => {
    const { webhookId } = await disable('failing');
    const [lease] = (await leaseDue(webhookId)).leases;
    await sql`update webhooks set recovery_probe_id = null where id = ${webhookId}`.execute(db);
    if (lease !== undefined)
      await recordOutcomes(db, [outcomeOf(lease, { result: 'delivered', countsForHealth: false })]);
    const other = await disable('failing');
    const [second] = (await leaseDue(other.webhookId)).leases;
    if (second !== undefined)
      await recordOutcomes(db, [outcomeOf(second, { result: 'delivered', countsForHealth: false })]);
    const changes = { publish: async () => undefined };
    const loop = createRecoveries({ db, log, changes }, (error) => expect(error).toBeUndefined());
    loop.start();
    await until('the other recovery', async () => (await find(other.webhookId)).state === 'enabled');
    await loop.stop();
    expect((await find(webhookId)).state).toBe('disabled');
  });
});
