import { failingPolicy } from '@enterprise-api/shared/contracts';
import {
  createDatabase,
  type Database,
  noteDisabledWebhook,
  noteExpiringKeys,
  noteFailingWebhooks,
  resetHealth,
  writeOperationalEvent,
} from '@enterprise-api/shared/ledger';
import { createLogger, newUuid, toPublicId } from '@enterprise-api/shared/runtime';
import { insertOrganization, insertWebhook, openTestDatabase, until, untilLockWait } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { takeCopies } from '../closings/queries.ts';
import { eraseEvents } from '../erasures/queries.ts';
import { fanOutEvents } from '../fan-out/queries.ts';
import { createWorkerMetrics } from '../metrics.ts';
import { recordOutcomes } from '../outcomes/record-outcomes.ts';
import { emitEvents, findHealth, outcomeOf, plenty } from '../testing/ledger.ts';
import { createAutoDisable } from '../webhooks/auto-disable.ts';
import { createOperationalEvents } from './operational-events.ts';

let db: Database;
let url: string;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ db, url, close } = await openTestDatabase());
});
afterAll(() => close());

const hour = 3_600_000;
const day = 24 * hour;
const ago = (ms: number) => new Date(Date.now() - ms);

/** A webhook that has failed for a while. */
async function insertFailing(forMs: number, values: { failed?: number; organizationId?: string; url?: string } = {}) {
  const organizationId = values.organizationId ?? (await insertOrganization(db));
  const address = values.url ?? 'https://receiver.example/hook?token=secret';
  const webhookId = await insertWebhook(db, { organizationId, url: address });
  await db
    .insertInto('webhook_health')
    .values({
      webhook_id: webhookId,
      first_failure_at: ago(forMs),
      open_until: null,
      failed_attempts: values.failed ?? 5,
    })
    .execute();
  return { organizationId, webhookId };
}

async function insertKey(expiresInMs: number, createdAt = ago(30 * day)) {
  const organizationId = await insertOrganization(db);
  const id = newUuid();
  const key = { id, organization_id: organizationId, name: 'production', public_id: 'abcd1234', scopes: ['*'] };
  const times = { created_at: createdAt, expires_at: new Date(Date.now() + expiresInMs) };
  const none = { ip_allowlist: null, revoked_at: null, last_used_at: null };
  await db
    .insertInto('api_keys')
    .values({ ...key, ...times, ...none, hash: Buffer.from(id) })
    .execute();
  return { organizationId, id };
}

const sweep = async (handle = db) => {
  await noteFailingWebhooks(handle, failingPolicy);
  await noteExpiringKeys(handle);
};

interface Body {
  id: string;
  type: string;
  organization_id: string;
  data: Record<string, unknown>;
}

/** The organization's operational events, oldest first. */
async function eventsOf(organizationId: string): Promise<Body[]> {
  const { rows } = await sql<{ body: string }>`
    select b.body from events e join event_bodies b on b.event_id = e.id
    where e.organization_id = ${organizationId} and e.type ~ '^(webhook|api_key|replay)' order by e.position`.execute(
    db,
  );
  return rows.map(({ body }) => JSON.parse(body) as Body);
}
const typesOf = async (organizationId: string) => (await eventsOf(organizationId)).map(({ type }) => type);

const write = (
  organizationId: string,
  type: 'webhook.failing' | 'webhook.disabled',
  object: string,
  transition = 'x',
) =>
  db.transaction().execute((trx) =>
    writeOperationalEvent(trx, {
      organizationId,
      type,
      object,
      transition: sql`${transition}::text`,
      facts: sql`'{}'`,
    }),
  );

describe('the sweep', () => {
  it('tells once that a webhook has failed for a day, without the query of its URL', async () => {
    const { organizationId, webhookId } = await insertFailing(day + hour);
    await sweep();
    await sweep();
    const [event, ...others] = await eventsOf(organizationId);
    expect(others).toEqual([]);
    expect(event).toEqual({
      id: expect.stringMatching(/^evt_[0-9a-z]{26}$/),
      type: 'webhook.failing',
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      organization_id: toPublicId('org', organizationId),
      data: {
        organization_name: 'Test organization',
        webhook: { id: toPublicId('whk', webhookId), url: 'https://receiver.example/hook', description: null },
        cause: null,
        count: 5,
        failing_since: expect.any(String),
        disable_at: null,
        help_url: '/docs/operational-events',
      },
    });
    expect(JSON.stringify(event)).not.toContain('token');
  });

  it('tells again a day before the webhook is disabled', async () => {
    const { organizationId } = await insertFailing(4 * day + hour, { failed: 20 });
    await sweep();
    const [event] = await eventsOf(organizationId);
    const time = (name: string) => Date.parse(String(event?.data[name]));
    expect(time('disable_at') - time('failing_since')).toBe(5 * day);
  });

  it.each([
    ['not yet after 6.5 days', 6.5, 1],
    ['after 7.5 days', 7.5, 2],
  ])('tells again a day before the webhook is disabled, of which 3 days were paused: %s', async (_name, days, told) => {
    const { organizationId, webhookId } = await insertFailing(days * day);
    await sweep();
    await sql`update webhook_health set failed_attempts = 20, paused_for = interval '3 days'
      where webhook_id = ${webhookId}`.execute(db);
    await sweep();
    expect(await typesOf(organizationId)).toHaveLength(told);
  });

  it.each([
    ['has failed for less than a day', 23 * hour, 5],
    ['passed both moments more than a week ago', 12 * day, 20],
  ])('tells nothing of a webhook that %s', async (_name, forMs, failed) => {
    const { organizationId } = await insertFailing(forMs, { failed });
    await sweep();
    expect(await typesOf(organizationId)).toEqual([]);
  });

  it.each([
    ['passed the first moment', 3 * day, 5, null],
    ['passed the second moment too, but failed too seldom', 4.5 * day, 19, null],
    ['passed both moments, of which the second counts', 4.5 * day, 20, expect.any(String)],
    ['should be disabled by now', 7 * day, 20, expect.any(String)],
  ])('tells once of a webhook that %s while no worker ran', async (_name, forMs, failed, disable_at) => {
    const { organizationId } = await insertFailing(forMs, { failed });
    await sweep();
    await sweep();
    expect(await eventsOf(organizationId)).toMatchObject([{ type: 'webhook.failing', data: { disable_at } }]);
  });

  it('tells nothing of a disabled webhook, or of a closed organization', async () => {
    const [one, two] = [await insertFailing(day + hour), await insertFailing(day + hour)];
    await sql`update webhooks set state = 'disabled', disabled_reason = 'manual' where id = ${one.webhookId}`.execute(
      db,
    );
    await sql`update organizations set state = 'closing' where id = ${two.organizationId}`.execute(db);
    await sweep();
    expect([await typesOf(one.organizationId), await typesOf(two.organizationId)]).toEqual([[], []]);
  });

  it.each([
    ['in less than 7 days', 6.5 * day, ['api_key.expiring']],
    ['in less than a day', 0.5 * day, ['api_key.expiring']],
    ['in more than 7 days', 7.5 * day, []],
    ['now', -1_000, ['api_key.expired']],
    ['in 2 days, the first time that a worker runs', 2 * day, ['api_key.expiring']],
    ['2 days before a worker runs', -2 * day, ['api_key.expired']],
    ['long ago', -8 * day, []],
  ])('tells once of a key that expires %s', async (_name, expiresInMs, types) => {
    const { organizationId, id } = await insertKey(expiresInMs);
    await sweep();
    await sweep();
    const events = await eventsOf(organizationId);
    expect(events.map(({ type }) => type)).toEqual(types);
    for (const { data } of events) {
      const api_key = { id: toPublicId('key', id), name: 'production', key_prefix: 'nwk_abcd1234' };
      expect(data).toMatchObject({ organization_name: 'Test organization', api_key, expires_at: expect.any(String) });
    }
  });

  it('reads no other keys than those that expire in these days', async () => {
    await sql`insert into api_keys (id, organization_id, name, public_id, scopes, hash, expires_at)
      select gen_random_uuid(), ${await insertOrganization(db)}, '', n::text, '{}', n::text::bytea, now() + interval '1 year'
      from generate_series(1, 5000) n`.execute(db);
    await sql`analyze api_keys`.execute(db);
    await db.transaction().execute(async (trx) => {
      await noteExpiringKeys(trx);
      const { rows } = await sql`select seq_tup_read + idx_tup_fetch < 1000 as few
        from pg_stat_xact_user_tables where relname = 'api_keys'`.execute(trx);
      expect(rows).toEqual([{ few: true }]);
    });
  });

  it('by several workers at once, one of which is killed, writes each event once', async () => {
    const failing = await Promise.all(Array.from({ length: 20 }, () => insertFailing(day + hour)));
    const expiring = await Promise.all(Array.from({ length: 20 }, () => insertKey(6.5 * day)));
    const typesOfAll = () =>
      Promise.all([...failing, ...expiring].map(({ organizationId }) => typesOf(organizationId)));
    const killed = createDatabase({ url, applicationName: 'killed', poolSize: 1, onError: () => undefined });
    const trx = await killed.startTransaction().execute();
    await sweep(trx);
    const workers = [0, 1].map(() => createOperationalEvents(db, () => undefined));
    for (const worker of workers) worker.start();
    // What the killed worker has locked is left to the next sweep.
    await sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'killed'`.execute(db);
    await until('all events', async () => {
      await Promise.all([sweep(), sweep()]);
      return (await typesOfAll()).every(({ length }) => length > 0);
    });
    await Promise.all(workers.map((worker) => worker.stop()));
    await trx
      .rollback()
      .execute()
      .catch(() => undefined);
    await killed.destroy();
    const expected = [...failing.map(() => ['webhook.failing']), ...expiring.map(() => ['api_key.expiring'])];
    expect(await typesOfAll()).toEqual(expected);
  });
});

describe('a webhook that failed', () => {
  const record = async (organizationId: string, result: 'delivered' | 'retry') => {
    const { leases } = await fanOutEvents(db, await emitEvents(db, organizationId, 1), plenty, settings);
    for (const lease of leases) await recordOutcomes(db, [outcomeOf(lease, { result })]);
  };
  const succeed = (organizationId: string) => record(organizationId, 'delivered');
  /** As a request does that changes the URL, or that disables or enables the webhook. */
  const reset = (webhookId: string) => db.transaction().execute((trx) => resetHealth(trx, webhookId));

  it('recovers with the first success after webhook.failing', async () => {
    const { organizationId } = await insertFailing(day + hour);
    await sweep();
    await succeed(organizationId);
    await succeed(organizationId);
    const [, recovered, ...others] = await eventsOf(organizationId);
    expect(others).toEqual([]);
    expect(recovered).toMatchObject({
      type: 'webhook.recovered',
      data: { cause: 'succeeded', recovered_at: expect.any(String), webhook: { url: 'https://receiver.example/hook' } },
    });
  });

  it.each([
    ['', []],
    [', and fails again', ['retry'] as const],
  ])('recovers once with the first success after its health is reset%s', async (_name, before) => {
    const { organizationId, webhookId } = await insertFailing(day + hour);
    await sweep();
    await reset(webhookId);
    expect(await findHealth(db, webhookId)).toMatchObject({ first_failure_at: null });
    for (const result of before) await record(organizationId, result);
    expect(await typesOf(organizationId)).toEqual(['webhook.failing']);
    for (const result of ['delivered', 'delivered', 'retry', 'delivered'] as const) {
      await record(organizationId, result);
      expect(await typesOf(organizationId)).toEqual(['webhook.failing', 'webhook.recovered']);
    }
    await reset(webhookId);
    await record(organizationId, 'delivered');
    expect(await typesOf(organizationId)).toHaveLength(2);
    expect(await findHealth(db, webhookId)).toMatchObject({ open_until: null });
  });

  it('recovers once if several workers record successes, and one of them is killed meanwhile', async () => {
    const { organizationId, webhookId } = await insertFailing(day + hour);
    await sweep();
    await reset(webhookId);
    const { leases } = await fanOutEvents(db, await emitEvents(db, organizationId, 3), plenty, settings);
    const outcomes = leases.map((lease) => outcomeOf(lease, { result: 'delivered' }));
    const killed = createDatabase({ url, applicationName: 'killed', poolSize: 1, onError: () => undefined });
    const trx = await killed.startTransaction().execute();
    await recordOutcomes(trx, outcomes);
    const recorded = Promise.all(outcomes.map((outcome) => recordOutcomes(db, [outcome])));
    await untilLockWait(db);
    expect(await typesOf(organizationId)).toEqual(['webhook.failing']);
    await sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'killed'`.execute(db);
    await Promise.all([recorded, sweep(), sweep()]);
    await trx
      .rollback()
      .execute()
      .catch(() => undefined);
    await killed.destroy();
    expect(await typesOf(organizationId)).toEqual(['webhook.failing', 'webhook.recovered']);
  });

  it('does not recover by a success that is recorded while it is being disabled: enabling it writes the event', async () => {
    const { organizationId, webhookId } = await insertFailing(day + hour);
    await sweep();
    const { leases } = await fanOutEvents(db, await emitEvents(db, organizationId, 1), plenty, settings);
    const disabling = await db.startTransaction().execute();
    await sql`update webhooks set state = 'disabled', disabled_reason = 'gone' where id = ${webhookId}`.execute(
      disabling,
    );
    await noteDisabledWebhook(disabling, { id: webhookId, organizationId }, 'gone');
    const recorded = recordOutcomes(
      db,
      leases.map((lease) => outcomeOf(lease, { result: 'delivered' })),
    );
    await untilLockWait(db);
    await disabling.commit().execute();
    await recorded;
    expect(await typesOf(organizationId)).toEqual(['webhook.failing', 'webhook.disabled']);
  });

  it('is not told of while a success is being recorded', async () => {
    const { organizationId, webhookId } = await insertFailing(day + hour);
    const recording = await db.startTransaction().execute();
    await recording
      .updateTable('webhook_health')
      .set({ first_failure_at: null, failed_attempts: 0 })
      .where('webhook_id', '=', webhookId)
      .execute();
    await sweep();
    await recording.commit().execute();
    await sweep();
    expect(await typesOf(organizationId)).toEqual([]);
  });

  it('does not recover without webhook.failing', async () => {
    const { organizationId } = await insertFailing(day + hour);
    await succeed(organizationId);
    await sweep();
    expect(await typesOf(organizationId)).toEqual([]);
  });

  it.each(['failing', 'gone'] as const)('is disabled (%s) in the transaction of the event', async (cause) => {
    const { organizationId, webhookId } = await insertFailing(5 * day, { failed: 31 });
    const log = createLogger('webhook-worker', 'silent', { write: () => undefined });
    const cancellation = { start: () => undefined };
    const changes = { publish: async () => undefined };
    const metrics = createWorkerMetrics(undefined);
    const autoDisable = createAutoDisable({ db, log, changes, cancellation, metrics });
    await autoDisable.disable(webhookId, cause, 1);
    await autoDisable.disable(webhookId, cause, 1);
    const [event, ...others] = await eventsOf(organizationId);
    expect(others).toEqual([]);
    expect(event).toMatchObject({
      type: 'webhook.disabled',
      data: { cause, count: 31, disabled_at: expect.any(String) },
    });
  });
});

const settings = { leaseMs: 45_000, maxAttempts: 3 };

describe('an operational event', () => {
  const fanOut = async (organizationId: string) => {
    const waiting = await db
      .selectFrom('outbox')
      .select('event_id')
      .where('organization_id', '=', organizationId)
      .execute();
    const { leases } = await fanOutEvents(
      db,
      waiting.map((row) => row.event_id),
      plenty,
      settings,
    );
    return leases.map((lease) => lease.webhook_id);
  };

  it('reaches webhooks that name its type, but never the webhook that it is about', async () => {
    const organizationId = await insertOrganization(db);
    const events = ['webhook.failing'];
    const about = await insertWebhook(db, { organizationId, events: ['*', ...events] });
    const other = await insertWebhook(db, { organizationId, events });
    await insertWebhook(db, { organizationId, events: ['*', 'batch.*', 'webhook.disabled'] });
    await write(organizationId, 'webhook.failing', about);
    expect(await fanOut(organizationId)).toEqual([other]);
    await write(organizationId, 'webhook.failing', other);
    expect(await fanOut(organizationId)).toEqual([about]);
  });

  it('exists once for an object and a transition', async () => {
    const { organizationId, webhookId } = await insertFailing(0);
    await Promise.all([0, 1, 2].map(() => write(organizationId, 'webhook.disabled', webhookId)));
    await write(organizationId, 'webhook.disabled', webhookId, 'y');
    expect(await typesOf(organizationId)).toEqual(['webhook.disabled', 'webhook.disabled']);
  });

  it('is not written if its transaction fails', async () => {
    const { organizationId, webhookId } = await insertFailing(0);
    const trx = await db.startTransaction().execute();
    const event = { organizationId, type: 'webhook.disabled', object: webhookId } as const;
    await writeOperationalEvent(trx, { ...event, transition: sql`'x'`, facts: sql`'{}'` });
    await trx.rollback().execute();
    expect(await typesOf(organizationId)).toEqual([]);
  });

  it('has a copy for each operator, which says whose it is; an operator gets no copy of its own', async () => {
    const operator = await insertOrganization(db);
    await db
      .updateTable('organizations')
      .set({ operator: true, external_id: 'us' })
      .where('id', '=', operator)
      .execute();
    const { organizationId, webhookId } = await insertFailing(0);
    await db.updateTable('organizations').set({ external_id: 'them' }).where('id', '=', organizationId).execute();
    await write(organizationId, 'webhook.failing', webhookId);
    await write(organizationId, 'webhook.failing', webhookId);
    const [own, ...others] = await eventsOf(organizationId);
    const copies = await eventsOf(operator);
    expect([others.length, copies.length]).toEqual([0, 1]);
    expect(own?.data).not.toHaveProperty('organization_id');
    expect(own?.data).not.toHaveProperty('external_id');
    const whose = { organization_id: toPublicId('org', organizationId), external_id: 'them' };
    expect(copies[0]).toMatchObject({ organization_id: toPublicId('org', operator), data: { ...own?.data, ...whose } });
    expect(copies[0]?.id).not.toBe(own?.id);

    const ownWebhook = await insertFailing(0, { organizationId: operator });
    await write(operator, 'webhook.failing', ownWebhook.webhookId);
    expect((await eventsOf(operator)).map(({ data }) => 'organization_id' in data)).toEqual([true, false]);

    await db.transaction().execute(async (trx) => {
      await eraseEvents(trx, await takeCopies(trx, organizationId, 100));
    });
    expect(await eventsOf(operator)).toMatchObject([
      { data: { webhook: { id: toPublicId('whk', ownWebhook.webhookId) } } },
    ]);
    await db.updateTable('organizations').set({ operator: false }).where('id', '=', operator).execute();
  });
});

it('public_id computes the same id as toPublicId', async () => {
  const ids = ['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff', newUuid(), newUuid()];
  for (const id of ids) {
    const { rows } = await sql<{ id: string }>`select public_id('evt', ${id}) as id`.execute(db);
    expect(rows[0]?.id).toBe(toPublicId('evt', id));
  }
});
