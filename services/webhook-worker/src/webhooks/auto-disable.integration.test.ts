import type { Change, Database } from '@enterprise-api/shared/ledger';
import { createLogger, toPublicId } from '@enterprise-api/shared/runtime';
import { openTestDatabase } from '@enterprise-api/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { createWorkerMetrics } from '../metrics.ts';
import { findDelivery, leaseDeliveries } from '../testing/ledger.ts';
import { createAutoDisable } from './auto-disable.ts';
import { createPendingCancellation } from './pending-cancellation.ts';

let db: Database;
let close: () => Promise<void>;
let lines: string[] = [];
let published: Change[] = [];
beforeAll(async () => {
  ({ db, close } = await openTestDatabase());
});
afterAll(() => close());
beforeEach(() => {
  lines = [];
  published = [];
});

const log = createLogger('webhook-worker', 'info', { write: (line: string) => lines.push(line) });
const changes = { publish: async (change: Change) => void published.push(change) };
const metrics = createWorkerMetrics(undefined);

const newCancellation = () => createPendingCancellation({ db, log });
const newAutoDisable = (cancellation = newCancellation()) =>
  createAutoDisable({ db, log, changes, cancellation, metrics });

const stateOf = (id: string) =>
  db.selectFrom('webhooks').select(['state', 'disabled_reason']).where('id', '=', id).executeTakeFirstOrThrow();
const auditOf = (id: string) => db.selectFrom('audit_log').selectAll().where('object_id', '=', id).execute();

describe('disabling a webhook', () => {
  it('cancels what is pending, and is audited once, however often it is called for', async () => {
    const { webhookId, organizationId, leases } = await leaseDeliveries(db, 2);
    const autoDisable = newAutoDisable();
    await autoDisable.disable(webhookId, 'gone', 1);
    await autoDisable.disable(webhookId, 'failing', 1);
    expect(await stateOf(webhookId)).toEqual({ state: 'disabled', disabled_reason: 'gone' });
    const canceled = { status: 'canceled', canceled_reason: 'webhook_disabled' };
    for (const lease of leases) expect(await findDelivery(db, lease.id)).toMatchObject(canceled);
    expect(await auditOf(webhookId)).toEqual([
      {
        id: expect.any(String),
        actor: 'webhook-worker',
        action: 'webhook.disabled',
        object_type: 'webhook',
        object_id: webhookId,
        organization_id: organizationId,
        request_id: null,
        changed_fields: ['enabled', 'disabled_reason'],
        changes: { enabled: { from: true, to: false }, disabled_reason: { from: null, to: 'gone' } },
        on_behalf_of: null,
        created_at: expect.any(Date),
      },
    ]);
    expect(published).toEqual([{ kind: 'webhook', id: webhookId }]);
    expect((await metrics.webhooksDisabled.get()).values).toMatchObject([{ labels: { reason: 'gone' }, value: 1 }]);
    const audited = lines.map((line) => JSON.parse(line)).filter((line) => line.msg === 'audit');
    expect(audited).toEqual([
      expect.objectContaining({
        actor: 'webhook-worker',
        action: 'webhook.disabled',
        object: toPublicId('whk', webhookId),
        request_id: null,
      }),
    ]);
  });

  it('does not happen when it cannot be audited', async () => {
    const { webhookId } = await leaseDeliveries(db, 1);
    await sql`alter table audit_log rename to audit_log_away`.execute(db);
    await newAutoDisable().disable(webhookId, 'gone', 1);
    await sql`alter table audit_log_away rename to audit_log`.execute(db);
    expect((await stateOf(webhookId)).state).toBe('enabled');
    expect(published).toEqual([]);
    expect(lines.some((line) => line.includes('webhook could not be disabled'))).toBe(true);
  });

  it('does not happen to a webhook that was changed since the attempt that called for it', async () => {
    const { webhookId } = await leaseDeliveries(db, 1);
    await sql`update webhooks set url = 'https://moved.example.com/', version = version + 1 where id = ${webhookId}`.execute(
      db,
    );
    const autoDisable = newAutoDisable();
    await autoDisable.disable(webhookId, 'gone', 1);
    expect((await stateOf(webhookId)).state).toBe('enabled');
    await autoDisable.disable(webhookId, 'gone', 2);
    expect((await stateOf(webhookId)).state).toBe('disabled');
  });

  it('happens also while pending deliveries of the webhook are being canceled', async () => {
    const { webhookId } = await leaseDeliveries(db, 1);
    const cancellation = newCancellation();
    cancellation.start([webhookId]);
    await newAutoDisable(cancellation).disable(webhookId, 'gone', 1);
    expect((await stateOf(webhookId)).state).toBe('disabled');
  });
});

describe('canceling what is pending', () => {
  it('cancels the deliveries of many webhooks that are not enabled, and of no other', async () => {
    const sets = [await leaseDeliveries(db, 2), await leaseDeliveries(db, 2)];
    const ids = sets.map((set) => set.webhookId);
    await sql`update webhooks set state = 'deleted' where id = any(${ids}::uuid[])`.execute(db);
    const enabled = await leaseDeliveries(db, 2);
    const cancellation = newCancellation();
    cancellation.start([...ids, enabled.webhookId]);
    await cancellation.stop();
    const statusOf = async (lease: { id: string }) => (await findDelivery(db, lease.id)).status;
    expect(await Promise.all(sets.flatMap((set) => set.leases).map(statusOf))).toEqual(Array(4).fill('canceled'));
    expect(await Promise.all(enabled.leases.map(statusOf))).toEqual(['pending', 'pending']);
  });
});
