import { fromPublicId, newUuid } from '@enterprise-api/shared/runtime';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { contentsOf } from '../testing/contents.ts';
import { isBusy, startTestApi, type TestApi } from '../testing/test-api.ts';

const [service, next] = ['the-secret-of-a-service-0123456789abc', 'the-next-secret-of-a-service-0123456789'];

let api: TestApi;
let organizationId: string;
let keys: string;
beforeAll(async () => {
  const secrets = { INTERNAL_API_SECRET: `${service},${next}` };
  api = await startTestApi({ environment: secrets, internalSecret: service });
});
afterAll(() => api.stop());
beforeEach(async () => {
  organizationId = (await api.createOrganization()).id;
  keys = `/internal/v1/organizations/${organizationId}/keys`;
});

const post = (path: string, idempotencyKey: string, body: object) =>
  api.internal('post', path).set('Idempotency-Key', idempotencyKey).retry(3, isBusy).send(body);
const good = { name: 'of the billing system', scopes: ['me:read'] };

async function keyCount(): Promise<number> {
  const { body } = await api.internal('get', keys).expect(200);
  return body.data.length;
}

describe('a key that is created again with the same Idempotency-Key', () => {
  it('is the same one, and its secret is shown again', async () => {
    const first = await post(keys, 'again', good).expect(201);
    expect(first.headers).not.toHaveProperty('idempotent-replayed');
    const second = await post(keys, 'again', good).expect(201);
    expect(second.headers['idempotent-replayed']).toBe('true');
    expect(second.text).toBe(first.text);
    await api.call('get', '/v1/me', second.body.secret).expect(200);
    expect(await keyCount()).toBe(1);
    const { body } = await api.internal('get', `/internal/v1/audit?organization_id=${organizationId}`).expect(200);
    expect(body.data.filter((entry: { action: string }) => entry.action === 'api_key.created')).toHaveLength(1);
  });

  it('leaves no secret in the database that could be read without the key ring', async () => {
    const { body } = await post(keys, 'sealed', good).expect(201);
    const contents = await contentsOf(api.db);
    expect(contents).toContain(fromPublicId('key', body.id));
    expect(contents).not.toContain(body.secret);
    expect(contents).not.toContain(service);
  });

  it('stays as it was first answered when it was changed or revoked since: its secret then opens nothing', async () => {
    const first = await post(keys, 'gone', good).expect(201);
    await api.internal('delete', `${keys}/${first.body.id}`).expect(204);
    const second = await post(keys, 'gone', good).expect(201);
    expect(second.text).toBe(first.text);
    await api.call('get', '/v1/me', second.body.secret).expect(401);
    expect(await keyCount()).toBe(0);
  });

  it('is a new one after 24 hours', async () => {
    const first = await post(keys, 'old', good).expect(201);
    await sql`update idempotency_keys set created_at = now() - interval '24 hours 1 minute'`.execute(api.db);
    const second = await post(keys, 'old', good).expect(201);
    expect(second.headers).not.toHaveProperty('idempotent-replayed');
    expect(second.body.id).not.toBe(first.body.id);
  });
});

describe('an Idempotency-Key', () => {
  it('422 with another body', async () => {
    await post(keys, 'reused', good).expect(201);
    const answer = await post(keys, 'reused', { ...good, name: 'another' }).expect(422);
    expect(answer.body.error.code).toBe('idempotency_key_reused');
    expect(await keyCount()).toBe(1);
  });

  it('has one effect, however many requests come at once', async () => {
    const answers = await Promise.all(Array.from({ length: 12 }, () => post(keys, 'crowd', good)));
    expect(await keyCount()).toBe(1);
    const refused = answers.filter(({ status }) => status !== 201);
    expect(new Set(answers.filter(({ status }) => status === 201).map(({ text }) => text)).size).toBe(1);
    for (const { body } of refused) expect(body.error.code).toBe('idempotency_in_progress');
  });

  it('belongs to its path, and to the secret that it came with', async () => {
    const first = await post(keys, 'whose', good).expect(201);
    const other = `/internal/v1/organizations/${(await api.createOrganization()).id}/keys`;
    const elsewhere = await post(other, 'whose', good).expect(201);
    expect(elsewhere.body.id).not.toBe(first.body.id);
    const stranger = await post(keys, 'whose', good).set('Authorization', `Bearer ${next}`).expect(201);
    expect(stranger.headers).not.toHaveProperty('idempotent-replayed');
    expect(stranger.body.id).not.toBe(first.body.id);
  });

  it('is refused when it is no Idempotency-Key', async () => {
    for (const value of ['', 'two words', 'x'.repeat(256)]) {
      const answer = await post('/internal/v1/organizations', value, { name: 'a', plan: 'pro' }).expect(400);
      expect(answer.body.error.param).toBe('Idempotency-Key');
    }
  });

  it('keeps 404 and 409 conflict, and 404 goes before 422', async () => {
    const nowhere = keys.replace(organizationId, 'org_01jd6kz5r8e2v9qxm3c7t4b0na');
    await post(nowhere, 'missing', good).expect(404);
    expect((await post(nowhere, 'missing', good).expect(404)).headers['idempotent-replayed']).toBe('true');
    await post(nowhere, 'missing', { ...good, name: 'another' }).expect(404);
    const named = { name: 'a', plan: 'pro', external_id: newUuid() };
    const made = await post('/internal/v1/organizations', newUuid(), named).expect(201);
    const key = newUuid();
    expect((await post('/internal/v1/organizations', key, named).expect(409)).body.error.code).toBe('conflict');
    await api.internal('patch', `/internal/v1/organizations/${made.body.id}`).send({ external_id: null }).expect(200);
    const again = await post('/internal/v1/organizations', key, named).expect(409);
    expect(again.headers['idempotent-replayed']).toBe('true');
  });
});
