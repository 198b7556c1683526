import { fromPublicId } from '@enterprise-api/shared/runtime';
import { describe, expect, it } from '@jest/globals';
import { insertDelivery } from '../testing/rows.ts';
import { type TestApi, withCustomer } from '../testing/test-api.ts';

let api: TestApi;
let key: string;
let organizationId: string;
withCustomer((customer) => {
  ({ api, key, organizationId } = customer);
});

const unknownId = 'whk_01jd6kz5r8e2v9qxm3c7t4b0na';

function uuidOf(webhookId: string): string {
  return fromPublicId('whk', webhookId) as string;
}

async function versionOf(webhookId: string): Promise<number> {
  const rows = api.db.selectFrom('webhooks').select('version').where('id', '=', uuidOf(webhookId));
  return (await rows.executeTakeFirstOrThrow()).version;
}

async function setFailing(webhookId: string, failedAttempts = 20): Promise<Date> {
  const since = new Date(Date.now() - 3_600_000);
  await api.db
    .insertInto('webhook_health')
    .values({
      webhook_id: uuidOf(webhookId),
      consecutive_failures: 9,
      failed_attempts: failedAttempts,
      first_failure_at: since,
      open_until: since,
      openings: 2,
    })
    .execute();
  return since;
}

async function statusesOf(webhookId: string): Promise<string[]> {
  const rows = await api.db
    .selectFrom('deliveries')
    .select('status')
    .where('webhook_id', '=', uuidOf(webhookId))
    .execute();
  return rows.map((row) => row.status).sort();
}

describe.each(['put', 'patch'] as const)('%s /v1/webhooks/{id}', (method) => {
  it('200 with the whole webhook; its version rises and its URL history grows', async () => {
    const before = await api.createWebhook(key);
    const changes = { url: 'https://other.example.com', events: ['batch.failed'], description: null };
    const { body } = await api.call(method, `/v1/webhooks/${before.id}`, key).send(changes).expect(200);
    const { secret: _secret, ...shown } = before;
    expect(body).toEqual({ ...shown, ...changes, updated_at: expect.any(String) });
    expect(body.updated_at > before.updated_at).toBe(true);
    expect(await versionOf(before.id)).toBe(2);
    await api.call(method, `/v1/webhooks/${before.id}`, key).send({ description: 'x' }).expect(200);
    const urls = await api.db
      .selectFrom('webhook_versions')
      .select(['version', 'url'])
      .where('webhook_id', '=', uuidOf(before.id))
      .orderBy('version')
      .execute();
    expect(urls).toEqual([
      { version: 1, url: before.url },
      { version: 2, url: changes.url },
    ]);
  });

  it('200 disabled: pending deliveries are canceled, except tests', async () => {
    const { id } = await api.createWebhook(key);
    const place = { organizationId, webhookId: id };
    await insertDelivery(api.db, place);
    await insertDelivery(api.db, place, { status: 'failed' });
    await insertDelivery(api.db, place, { test: true });
    const { body } = await api.call(method, `/v1/webhooks/${id}`, key).send({ enabled: false }).expect(200);
    expect(body).toMatchObject({ enabled: false, disabled_reason: 'manual' });
    expect(await statusesOf(id)).toEqual(['canceled', 'failed', 'pending']);
  });

  it('200 enabled again: deliveries that were still pending are canceled, and its health is reset', async () => {
    const { id } = await api.createWebhook(key, { enabled: false });
    await insertDelivery(api.db, { organizationId, webhookId: id });
    await setFailing(id);
    const { body } = await api.call(method, `/v1/webhooks/${id}`, key).send({ enabled: true }).expect(200);
    expect(body).toMatchObject({ enabled: true, disabled_reason: null, failing_since: null, disable_at: null });
    expect(await statusesOf(id)).toEqual(['canceled']);
    const health = await api.db
      .selectFrom('webhook_health')
      .selectAll()
      .where('webhook_id', '=', uuidOf(id))
      .executeTakeFirst();
    expect(health).toMatchObject({ consecutive_failures: 0, failed_attempts: 0, first_failure_at: null, openings: 0 });
  });

  it('200 with `failing_since` and `disable_at` until the URL changes', async () => {
    const { id } = await api.createWebhook(key);
    const since = await setFailing(id);
    const shown = (await api.call('get', `/v1/webhooks/${id}`, key).expect(200)).body;
    expect(shown.failing_since).toBe(since.toISOString());
    expect(Date.parse(shown.disable_at) - since.getTime()).toBe(5 * 24 * 3_600_000);
    const same = await api
      .call(method, `/v1/webhooks/${id}`, key)
      .send({ url: shown.url, description: 'x' })
      .expect(200);
    expect(same.body.failing_since).toBe(since.toISOString());
    const moved = await api
      .call(method, `/v1/webhooks/${id}`, key)
      .send({ url: 'https://new.example.com' })
      .expect(200);
    expect(moved.body.failing_since).toBeNull();
  });

  it('200 with `disable_at` null until 20 attempts have failed', async () => {
    const { id } = await api.createWebhook(key);
    const since = await setFailing(id, 19);
    const { body } = await api.call(method, `/v1/webhooks/${id}`, key).send({ description: 'x' }).expect(200);
    expect(body).toMatchObject({ failing_since: since.toISOString(), disable_at: null });
  });

  it('200 with its URL spelt in upper case: the URL is the same, and its failures are kept', async () => {
    const { id, url } = await api.createWebhook(key);
    const since = await setFailing(id);
    const spelt = url.replace('https://hooks.example.com', 'HTTPS://HOOKS.example.COM');
    const { body } = await api.call(method, `/v1/webhooks/${id}`, key).send({ url: spelt }).expect(200);
    expect(body).toMatchObject({ url, failing_since: since.toISOString() });
  });

  it('200 with a URL stored before scheme and host were put in lower case: failures are kept', async () => {
    const { id, url } = await api.createWebhook(key);
    const since = await setFailing(id);
    const stored = url.replace('hooks.', 'HOOKS.');
    await api.db.updateTable('webhooks').set({ url: stored }).where('id', '=', uuidOf(id)).execute();
    const { body } = await api.call(method, `/v1/webhooks/${id}`, key).send({ url: stored }).expect(200);
    expect(body).toMatchObject({ url, failing_since: since.toISOString() });
  });

  it.each([
    [{}, 'validation_failed', 'body'],
    [{ id: 'x' }, 'validation_failed', 'id'],
    [{ enabled: null }, 'validation_failed', 'enabled'],
    [{ url: 'https://10.0.0.1' }, 'url_not_allowed', 'url'],
    [{ url: 'https://example.com/in#part' }, 'url_not_allowed', 'url'],
  ])('400 for %j, before 404', async (body, code, param) => {
    const answer = await api.call(method, `/v1/webhooks/${unknownId}`, key).send(body).expect(400);
    expect(answer.body.error).toMatchObject({ code, param });
  });

  it('404 with the same body for an unknown, a malformed, a deleted, and another organization’s id', async () => {
    const foreign = await api.createWebhook((await api.createKey()).secret);
    const deleted = await api.createWebhook(key);
    await api.call('delete', `/v1/webhooks/${deleted.id}`, key).expect(204);
    const bodies = [];
    for (const id of [unknownId, 'whk_1', 'whk%5f1', deleted.id, foreign.id]) {
      const call = api.call(method, `/v1/webhooks/${id}`, key).set('X-Request-Id', 'same').send({ enabled: true });
      bodies.push((await call.expect(404)).body);
    }
    for (const body of bodies) expect(body).toEqual(bodies[0]);
  });
});

describe('DELETE /v1/webhooks/{id}', () => {
  it('204: the webhook can no longer be read, its pending deliveries are canceled, its history stays readable', async () => {
    const { id } = await api.createWebhook(key);
    const delivery = await insertDelivery(api.db, { organizationId, webhookId: id });
    await api.call('delete', `/v1/webhooks/${id}`, key).expect(204, '');
    await api.call('get', `/v1/webhooks/${id}`, key).expect(404);
    const shown = await api.call('get', `/v1/webhooks/deliveries/${delivery.id}`, key).expect(200);
    expect(shown.body).toMatchObject({ status: 'canceled', next_attempt_at: null, completed_at: expect.any(String) });
  });

  it('404 the second time', async () => {
    const { id } = await api.createWebhook(key);
    await api.call('delete', `/v1/webhooks/${id}`, key).expect(204);
    await api.call('delete', `/v1/webhooks/${id}`, key).expect(404);
  });

  it('204 and keeps no secret, neither the current nor the previous one', async () => {
    const { id } = await api.createWebhook(key);
    await api.call('post', `/v1/webhooks/${id}/rotate-secret`, key).expect(200);
    await api.call('delete', `/v1/webhooks/${id}`, key).expect(204);
    const secrets = await api.db
      .selectFrom('webhooks')
      .select(['secret_sealed', 'previous_secret_sealed', 'previous_secret_expires_at'])
      .where('id', '=', uuidOf(id))
      .executeTakeFirstOrThrow();
    expect(Object.values(secrets)).toEqual([null, null, null]);
  });
});
