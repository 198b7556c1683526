import { webhookSecretContext } from '@enterprise-api/shared/contracts';
import { fromPublicId } from '@enterprise-api/shared/runtime';
import { createSecretBox } from '@enterprise-api/shared/security';
import { describe, expect, it } from '@jest/globals';
import { type TestApi, testConfig, withCustomer } from '../testing/test-api.ts';

let api: TestApi;
let key: string;
let organizationId: string;
withCustomer((customer) => {
  ({ api, key, organizationId } = customer);
});

const good = { url: 'https://hooks.example.com/in', events: ['batch.*'] };

function uuidOf(webhookId: string): string {
  return fromPublicId('whk', webhookId) as string;
}

async function rowOf(webhookId: string) {
  return api.db.selectFrom('webhooks').selectAll().where('id', '=', uuidOf(webhookId)).executeTakeFirstOrThrow();
}

describe('POST /v1/webhooks', () => {
  it('201 with the webhook, its Location, and its secret, which is never shown again', async () => {
    const answer = await api
      .call('post', '/v1/webhooks', key)
      .send({ ...good, description: 'CI' })
      .expect(201);
    const { secret, ...webhook } = answer.body;
    expect(webhook).toEqual({
      id: expect.stringMatching(/^whk_[0-7][0-9a-hjkmnp-tv-z]{25}$/),
      object: 'webhook',
      rate_limit_per_second: null,
      auto_recover: false,
      header_names: [],
      max_in_flight: null,
      paused: null,
      ...good,
      description: 'CI',
      enabled: true,
      disabled_reason: null,
      failing_since: null,
      disable_at: null,
      previous_secret_expires_at: null,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updated_at: expect.any(String),
    });
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(answer.headers.location).toBe(`/v1/webhooks/${webhook.id}`);
    await api.call('get', answer.headers.location as string, key).expect(200, webhook);
  });

  it('201 with a secret that is stored sealed and opens for this webhook only', async () => {
    const { id, secret } = await api.createWebhook(key);
    const { secret_sealed } = await rowOf(id);
    expect(secret_sealed).not.toContain(secret.slice(6));
    const box = createSecretBox(testConfig({ DATABASE_URL: 'postgres://x' }).keyRing);
    const organization = fromPublicId('org', organizationId) as string;
    expect(box.open(secret_sealed ?? '', webhookSecretContext(organization, uuidOf(id)))).toBe(secret);
    expect(() => box.open(secret_sealed ?? '', webhookSecretContext(organization, organization))).toThrow(
      'does not open',
    );
  });

  it('201 with scheme and host in lower case, and the rest of the URL as sent', async () => {
    const { id, url } = await api.createWebhook(key, { url: 'HTTPS://Hooks.Example.com/In?Q=A' });
    expect(url).toBe('https://hooks.example.com/In?Q=A');
    expect((await rowOf(id)).url).toBe(url);
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
    [{ ...good, url: 'https://example.com/in#part' }, 'url', 'url_not_allowed'],
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

  it('409 for the 101st, also when many come at once; a deleted one no longer counts', async () => {
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

  it('200 with enabled webhooks only, or disabled ones only', async () => {
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

  it('200 without webhooks of another organization', async () => {
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
