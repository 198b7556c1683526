import { webhookSecretContext } from '@enterprise-api/shared/contracts';
import { fromPublicId } from '@enterprise-api/shared/runtime';
import { createSecretBox } from '@enterprise-api/shared/security';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { insertDelivery } from '../testing/rows.ts';
import { startTestApi, type TestApi, testConfig } from '../testing/test-api.ts';

let api: TestApi;
let key: string;
let organizationId: string;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());
beforeEach(async () => {
  const made = await api.createKey();
  key = made.secret;
  organizationId = made.organization_id;
});

const unknownId = 'whk_01jd6kz5r8e2v9qxm3c7t4b0na';
const good = { url: 'https://hooks.example.com/in', events: ['batch.*'] };

function uuidOf(webhookId: string): string {
  return fromPublicId('whk', webhookId) as string;
}

async function rowOf(webhookId: string) {
  return api.db.selectFrom('webhooks').selectAll().where('id', '=', uuidOf(webhookId)).executeTakeFirstOrThrow();
}

async function setFailing(webhookId: string): Promise<Date> {
  const since = new Date(Date.now() - 3_600_000);
  await api.db
    .insertInto('webhook_health')
    .values({
      webhook_id: uuidOf(webhookId),
      consecutive_failures: 9,
      failed_attempts: 9,
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

describe('POST /v1/webhooks', () => {
  it('201 with the webhook, where it is, and its secret this once', async () => {
    const answer = await api
      .call('post', '/v1/webhooks', key)
      .send({ ...good, description: 'CI' })
      .expect(201);
    const { secret, ...webhook } = answer.body;
    expect(webhook).toEqual({
      id: expect.stringMatching(/^whk_[0-7][0-9a-hjkmnp-tv-z]{25}$/),
      object: 'webhook',
      ...good,
      description: 'CI',
      enabled: true,
      disabled_reason: null,
      failing_since: null,
      disable_at: null,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updated_at: expect.any(String),
    });
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(answer.headers.location).toBe(`/v1/webhooks/${webhook.id}`);
    await api.call('get', answer.headers.location as string, key).expect(200, webhook);
  });

  it('201 with a secret that is stored sealed, and opens for this webhook alone', async () => {
    const { id, secret } = await api.createWebhook(key);
    const { secret_sealed } = await rowOf(id);
    expect(secret_sealed).not.toContain(secret.slice(6));
    const box = createSecretBox(testConfig({ DATABASE_URL: 'postgres://x' }).keyRing);
    const organization = fromPublicId('org', organizationId) as string;
    expect(box.open(secret_sealed, webhookSecretContext(organization, uuidOf(id)))).toBe(secret);
    expect(() => box.open(secret_sealed, webhookSecretContext(organization, organization))).toThrow('does not open');
  });

  it('201 disabled when asked for', async () => {
    const webhook = await api.createWebhook(key, { enabled: false });
    expect(webhook).toMatchObject({ enabled: false, disabled_reason: 'manual' });
  });

  it.each([
    [{ events: ['*'] }, 'url', 'validation_failed'],
    [{ url: 'https://example.com' }, 'events', 'validation_failed'],
    [{ ...good, url: 7 }, 'url', 'validation_failed'],
    [{ ...good, events: [] }, 'events', 'validation_failed'],
    [{ ...good, events: ['webhook.test'] }, 'events[0]', 'validation_failed'],
    [{ ...good, events: ['batch.*', 'batch.nope'] }, 'events[1]', 'validation_failed'],
    [{ ...good, events: ['*', '*'] }, 'events', 'validation_failed'],
    [{ ...good, description: 'x'.repeat(501) }, 'description', 'validation_failed'],
    [{ ...good, enabled: 'true' }, 'enabled', 'validation_failed'],
    [{ ...good, secret: 'whsec_mine' }, 'secret', 'validation_failed'],
    [{ ...good, url: 'http://example.com' }, 'url', 'url_not_allowed'],
    [{ ...good, url: 'https://localhost/x' }, 'url', 'url_not_allowed'],
    [{ ...good, url: 'https://127.0.0.1/x' }, 'url', 'url_not_allowed'],
    [{ ...good, url: 'https://u:p@example.com' }, 'url', 'url_not_allowed'],
    [{ ...good, url: 'https://example.com:22' }, 'url', 'url_not_allowed'],
    [{ ...good, url: `https://example.com/${'x'.repeat(2_048)}` }, 'url', 'url_not_allowed'],
    [{ ...good, url: '' }, 'url', 'url_not_allowed'],
  ])('400 for %j', async (body, param, code) => {
    const answer = await api.call('post', '/v1/webhooks', key).send(body).expect(400);
    expect(answer.body.error).toMatchObject({ type: 'invalid_request_error', code, param });
    expect(answer.body.error.details[0]).toMatchObject({ location: 'body', path: param });
  });

  it('403 without webhooks:write', async () => {
    const { secret } = await api.createKey({ scopes: ['webhooks:read'] });
    const answer = await api.call('post', '/v1/webhooks', secret).send(good).expect(403);
    expect(answer.body.error.required_scope).toBe('webhooks:write');
  });

  it('409 for the 101st, also when many come at once; a deleted one makes room', async () => {
    const webhooks = [];
    for (let count = 0; count < 95; count++) webhooks.push(await api.createWebhook(key));
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => api.call('post', '/v1/webhooks', key).send(good)),
    );
    expect(answers.map((answer) => answer.status).sort()).toEqual([...Array(5).fill(201), ...Array(7).fill(409)]);
    const refused = answers.find((answer) => answer.status === 409);
    expect(refused?.body.error.code).toBe('limit_reached');
    await api.call('delete', `/v1/webhooks/${webhooks[0]?.id}`, key).expect(204);
    await api.createWebhook(key);
  });
});

describe('GET /v1/webhooks', () => {
  it('200 newest first, page by page, without secrets', async () => {
    const made = [];
    for (let count = 0; count < 3; count++) made.push((await api.createWebhook(key)).id);
    const first = await api.call('get', '/v1/webhooks?limit=2', key).expect(200);
    expect(first.body).toMatchObject({ object: 'list', has_more: true, next_cursor: expect.any(String) });
    const second = await api.call('get', `/v1/webhooks?limit=2&cursor=${first.body.next_cursor}`, key).expect(200);
    expect(second.body).toMatchObject({ has_more: false, next_cursor: null });
    const seen = [...first.body.data, ...second.body.data].map((webhook) => webhook.id);
    expect(seen).toEqual(made.reverse());
    expect(first.text).not.toContain('whsec_');
  });

  it('200 only the enabled, or only the others', async () => {
    const on = await api.createWebhook(key);
    const off = await api.createWebhook(key, { enabled: false });
    const ids = async (filter: string) =>
      (await api.call('get', `/v1/webhooks${filter}`, key).expect(200)).body.data.map(
        (each: { id: string }) => each.id,
      );
    expect(await ids('?enabled=true')).toEqual([on.id]);
    expect(await ids('?enabled=false')).toEqual([off.id]);
    expect(await ids('')).toEqual([off.id, on.id]);
  });

  it('200 nothing of another organization', async () => {
    await api.createWebhook((await api.createKey()).secret);
    const answer = await api.call('get', '/v1/webhooks', key).expect(200);
    expect(answer.body).toEqual({ object: 'list', data: [], has_more: false, next_cursor: null });
  });

  it.each([
    ['limit=0', 'validation_failed', 'limit'],
    ['limit=101', 'validation_failed', 'limit'],
    ['limit=', 'validation_failed', 'limit'],
    ['limit=1&limit=2', 'validation_failed', 'limit'],
    ['enabled=yes', 'validation_failed', 'enabled'],
    ['page=2', 'validation_failed', 'page'],
    ['cursor=abc', 'invalid_cursor', 'cursor'],
    ['cursor=', 'invalid_cursor', 'cursor'],
  ])('400 for ?%s', async (query, code, param) => {
    const answer = await api.call('get', `/v1/webhooks?${query}`, key).expect(400);
    expect(answer.body.error).toMatchObject({ code, param });
  });

  it('400 for a cursor of other filters, or of another organization', async () => {
    const other = await api.createKey();
    for (const each of [key, other.secret]) {
      await api.createWebhook(each);
      await api.createWebhook(each);
    }
    const { next_cursor } = (await api.call('get', '/v1/webhooks?limit=1', key).expect(200)).body;
    await api.call('get', `/v1/webhooks?limit=1&enabled=true&cursor=${next_cursor}`, key).expect(400);
    await api.call('get', `/v1/webhooks?limit=1&cursor=${next_cursor}`, other.secret).expect(400);
    await api.call('get', `/v1/webhooks?limit=5&cursor=${next_cursor}`, key).expect(200);
  });
});

describe.each(['put', 'patch'] as const)('%s /v1/webhooks/{id}', (method) => {
  it('200 with the whole webhook; its version and the history of its URLs go with it', async () => {
    const before = await api.createWebhook(key);
    const changes = { url: 'https://other.example.com', events: ['batch.failed'], description: null };
    const { body } = await api.call(method, `/v1/webhooks/${before.id}`, key).send(changes).expect(200);
    const { secret: _secret, ...shown } = before;
    expect(body).toEqual({ ...shown, ...changes, updated_at: expect.any(String) });
    expect(body.updated_at > before.updated_at).toBe(true);
    expect((await rowOf(before.id)).version).toBe(2);
    await api.call(method, `/v1/webhooks/${before.id}`, key).send({ description: 'x' }).expect(200);
    const urls = await api.db
      .selectFrom('webhook_urls')
      .select(['version', 'url'])
      .where('webhook_id', '=', uuidOf(before.id))
      .orderBy('version')
      .execute();
    expect(urls).toEqual([
      { version: 1, url: before.url },
      { version: 2, url: changes.url },
    ]);
  });

  it('200 disabled by hand: what is pending is canceled, tests excepted', async () => {
    const { id } = await api.createWebhook(key);
    const place = { organizationId, webhookId: id };
    await insertDelivery(api.db, place);
    await insertDelivery(api.db, place, { status: 'failed' });
    await insertDelivery(api.db, place, { event_type: 'webhook.test' });
    const { body } = await api.call(method, `/v1/webhooks/${id}`, key).send({ enabled: false }).expect(200);
    expect(body).toMatchObject({ enabled: false, disabled_reason: 'manual' });
    expect(await statusesOf(id)).toEqual(['canceled', 'failed', 'pending']);
  });

  it('200 enabled again: what was left is canceled first, and its health is as new', async () => {
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
    expect(health).toMatchObject({ consecutive_failures: 0, failed_attempts: 0, open_until: null, openings: 0 });
  });

  it('200 shows failures coming, until the URL changes', async () => {
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

  it.each([
    [{}, 'validation_failed', 'body'],
    [{ id: 'x' }, 'validation_failed', 'id'],
    [{ enabled: null }, 'validation_failed', 'enabled'],
    [{ url: 'https://10.0.0.1' }, 'url_not_allowed', 'url'],
  ])('400 for %j, before 404', async (body, code, param) => {
    const answer = await api.call(method, `/v1/webhooks/${unknownId}`, key).send(body).expect(400);
    expect(answer.body.error).toMatchObject({ code, param });
  });

  it('404, the same for an unknown, a malformed, a deleted and another’s id', async () => {
    const foreign = await api.createWebhook((await api.createKey()).secret);
    const deleted = await api.createWebhook(key);
    await api.call('delete', `/v1/webhooks/${deleted.id}`, key).expect(204);
    const bodies = [];
    for (const id of [unknownId, 'whk_1', '..%2f', deleted.id, foreign.id]) {
      const call = api.call(method, `/v1/webhooks/${id}`, key).set('X-Request-Id', 'same').send({ enabled: true });
      bodies.push((await call.expect(404)).body);
    }
    for (const body of bodies) expect(body).toEqual(bodies[0]);
  });
});

describe('DELETE /v1/webhooks/{id}', () => {
  it('204: gone from reading, its pending deliveries canceled, its history still there', async () => {
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
});
