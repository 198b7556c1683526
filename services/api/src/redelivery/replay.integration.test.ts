import { fromPublicId } from '@enterprise-api/shared/runtime';
import { untilLockWait } from '@enterprise-api/testkit';
import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { insertDelivery } from '../testing/rows.ts';
import type { TestApi } from '../testing/test-api.ts';
import { withWebhook } from '../testing/webhook-frame.ts';

let api: TestApi;
let key: string;
let organizationId: string;
let webhookId: string;
const { uuidOf, insert, rowOf, update, moveInside, disable, remove } = withWebhook((customer) => {
  ({ api, key, organizationId, webhookId } = customer);
});

describe('POST /v1/webhooks/{id}/replay', () => {
  const replay = (body: object, id = webhookId) => api.call('post', `/v1/webhooks/${id}/replay`, key).send(body);
  const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000);
  const since = () => hoursAgo(24).toISOString();
  const pending = async () => {
    const webhook_id = fromPublicId('whk', webhookId) as string;
    const rows = api.db.selectFrom('deliveries').select(['id', 'round']).where('webhook_id', '=', webhook_id);
    return (await rows.where('status', '=', 'pending').execute()).filter(({ round }) => round > 0).map(({ id }) => id);
  };

  it('202 with the number of failed and canceled deliveries that it made due again', async () => {
    const [failed, canceled] = [await insert({ status: 'failed' }), await insert({ status: 'canceled' })];
    await insert({ status: 'succeeded' });
    await insert({ status: 'pending' });
    const { body } = await replay({ since: since() }).expect(202);
    expect(body).toMatchObject({ object: 'replay', matched: 2, has_more: false });
    expect((await pending()).sort()).toEqual([uuidOf(failed.id), uuidOf(canceled.id)].sort());
    expect(await rowOf(failed.id)).toMatchObject({
      manual: true,
      lease_count: 0,
      max_attempts: 10,
      completed_at: null,
    });
  });

  it('202 for the statuses and the period that it names, `until` excluded', async () => {
    const until = hoursAgo(2);
    const within = await insert({ status: 'succeeded', created_at: hoursAgo(3) });
    await insert({ status: 'failed', created_at: hoursAgo(3) });
    await insert({ status: 'succeeded', created_at: until });
    await insert({ status: 'succeeded', created_at: hoursAgo(5) });
    const body = { since: hoursAgo(4).toISOString(), until: until.toISOString(), status: ['succeeded'] };
    expect((await replay(body).expect(202)).body.matched).toBe(1);
    expect(await pending()).toEqual([uuidOf(within.id)]);
  });

  it('202 without deliveries of other webhooks, and without those whose body retention has removed', async () => {
    const other = await api.createWebhook(key);
    await insertDelivery(api.db, { organizationId, webhookId: other.id }, { status: 'failed' });
    const { eventId } = await insert({ status: 'failed' });
    await api.db
      .deleteFrom('event_bodies')
      .where('event_id', '=', fromPublicId('evt', eventId) as string)
      .execute();
    expect((await replay({ since: since() }).expect(202)).body.matched).toBe(0);
  });

  it('202 without tests, which are neither sent again nor counted', async () => {
    const tests = [await insert({ test: true, status: 'failed' }), await insert({ test: true, status: 'canceled' })];
    await insert({ status: 'failed' });
    expect((await replay({ since: since() }).expect(202)).body.matched).toBe(1);
    for (const { id } of tests) expect((await rowOf(id)).round).toBe(0);
  });

  it('202 for each of several calls at once, and each delivery is made due once', async () => {
    for (let count = 0; count < 30; count++) await insert({ status: 'failed' });
    const answers = await Promise.all(Array.from({ length: 4 }, () => replay({ since: since() }).expect(202)));
    expect(answers.reduce((sum, { body }) => sum + body.matched, 0)).toBe(30);
    const rows = api.db
      .selectFrom('deliveries')
      .select('round')
      .where('id', 'in', await pending());
    expect((await rows.execute()).map(({ round }) => round)).toEqual(Array(30).fill(1));
  });

  it('202 without deliveries that were completed after the call began', async () => {
    const { id } = await insert({ status: 'failed' });
    await update(id, { completed_at: new Date(Date.now() + 60_000) });
    expect((await replay({ since: since() }).expect(202)).body.matched).toBe(0);
  });

  it('202 with the same number for the same Idempotency-Key, and each delivery is made due once', async () => {
    await insert({ status: 'failed' });
    const body = { since: since() };
    for (let time = 0; time < 2; time++) {
      expect((await replay(body).set('Idempotency-Key', 'r').expect(202)).body.matched).toBe(1);
    }
  });

  it('202 with has_more when it leaves deliveries to the next call', async () => {
    const { id } = await insert({ status: 'failed' });
    // With this one, there is one more than a replay takes.
    await sql`
      insert into deliveries (id, organization_id, webhook_id, event_id, event_type, status, max_attempts, completed_at)
      select (left(id::text, 24) || lpad(to_hex(nth), 12, '0'))::uuid, organization_id, webhook_id, event_id, event_type, status, max_attempts, completed_at
      from deliveries, generate_series(1, 100000) as nth where id = ${uuidOf(id)}`.execute(api.db);
    expect((await replay({ since: since() }).expect(202)).body).toMatchObject({ matched: 100_000, has_more: true });
    expect((await replay({ since: since() }).expect(202)).body).toMatchObject({ matched: 1, has_more: false });
    await sql`update pending_deliveries set next_attempt_at = now() + interval '1 hour'
      where webhook_id = ${fromPublicId('whk', webhookId)}`.execute(api.db);
    await insert({ status: 'failed' });
    const both = { since: since(), status: ['failed', 'pending'] };
    expect((await replay(both).expect(202)).body).toMatchObject({ matched: 100_000, has_more: true });
    expect((await replay(both).expect(202)).body).toMatchObject({ matched: 2, has_more: false });
  });

  it.each([
    [{}, 'since'],
    [{ since: '2026-11-21T00:00:00Z', until: '2026-11-21T00:00:00Z' }, 'until'],
    [{ since: 'yesterday' }, 'since'],
    [{ since: '2026-01-01T00:00:00Z', until: 1 }, 'until'],
    [{ since: '2026-01-01T00:00:00Z', status: [] }, 'status'],
    [{ since: '2026-01-01T00:00:00Z', status: 'failed' }, 'status'],
    [{ since: '2026-01-01T00:00:00Z', status: ['leased'] }, 'status[0]'],
    [{ since: '2026-01-01T00:00:00Z', webhook_id: 'x' }, 'webhook_id'],
  ])('400 for %j', async (body, param) => {
    const answer = await replay(body).expect(400);
    expect(answer.body.error).toMatchObject({ code: 'validation_failed', param });
  });

  it('404 for a deleted webhook', async () => {
    await remove();
    await replay({ since: since() }).expect(404);
  });

  it('400 when its URL is no longer allowed', async () => {
    await moveInside();
    expect((await replay({ since: since() }).expect(400)).body.error.code).toBe('url_not_allowed');
  });

  /** Locks a row that a replay wants. @returns what releases the lock */
  const holdRow = async (deliveryId: string) => {
    const held = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const work = api.db.transaction().execute(async (trx) => {
      await sql`select from deliveries where id = ${uuidOf(deliveryId)} for update`.execute(trx);
      held.resolve();
      await gate.promise;
    });
    await held.promise;
    return async () => {
      gate.resolve();
      await work;
    };
  };
  it('202 for many at once, one after the other; other requests are answered meanwhile', async () => {
    const { id } = await insert({ status: 'failed' });
    const release = await holdRow(id);
    const calls = Array.from({ length: 12 }, () => replay({ since: since() }).expect(202));
    const answers = Promise.all(calls.map(async (call) => (await call).body.matched as number));
    await untilLockWait(api.db);
    await api.call('get', '/v1/webhooks', key).expect(200);
    await release();
    expect((await answers).sort()).toEqual([...Array(11).fill(0), 1]);
  });

  it('202 for deliveries that were completed when the call arrived, even if it waited for other calls', async () => {
    const { id } = await insert({ status: 'failed' });
    const release = await holdRow(id);
    const first = Promise.resolve(replay({ since: since() }).expect(202));
    await untilLockWait(api.db);
    const second = Promise.resolve(replay({ since: since() }).expect(202));
    // These are answered after the second call was sent, so that it has arrived.
    for (let count = 0; count < 3; count++) await api.call('get', '/v1/webhooks', key).expect(200);
    const later = await insert({ status: 'failed' });
    await release();
    expect([(await first).body.matched, (await second).body.matched]).toEqual([1, 0]);
    expect((await rowOf(later.id)).status).toBe('failed');
  });

  it('409 when the webhook is disabled meanwhile, without waiting for the replay; no delivery is made due', async () => {
    const { id } = await insert({ status: 'failed' });
    const release = await holdRow(id);
    const answer = Promise.resolve(replay({ since: since() }).expect(409));
    await untilLockWait(api.db);
    await disable();
    await release();
    expect((await answer).body.error.code).toBe('conflict');
    expect((await rowOf(id)).status).toBe('failed');
  });

  it('409 for a disabled webhook', async () => {
    const { id } = await insert({ status: 'failed' });
    await disable();
    const answer = await replay({ since: since() }).expect(409);
    expect(answer.body.error.code).toBe('conflict');
    expect((await rowOf(id)).status).toBe('failed');
  });
});
