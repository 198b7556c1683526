import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApi, type TestApi } from '../testing/test-api.ts';

let api: TestApi;
const path = '/internal/v1/organizations';
const unknownId = 'org_01jd6kz5r8e2v9qxm3c7t4b0na';

beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());

describe('POST /internal/v1/organizations', () => {
  it('201 with the organization and its Location', async () => {
    const answer = await api.internal('post', path).send({ name: 'Acme', plan: 'pro' }).expect(201);
    expect(answer.body).toMatchObject({ object: 'organization', name: 'Acme', plan: 'pro' });
    expect(answer.headers.location).toBe(`${path}/${answer.body.id}`);
    await api.internal('get', answer.headers.location as string).expect(200, answer.body);
  });

  it.each([
    [{}, 'name'],
    [{ name: '', plan: 'pro' }, 'name'],
    [{ name: 'x'.repeat(201), plan: 'pro' }, 'name'],
    [{ name: 'x', plan: 'gold' }, 'plan'],
    [{ name: 'x', plan: 'pro', id: 'y' }, 'id'],
    [[], 'body'],
  ])('400 for %j', async (body, param) => {
    const answer = await api.internal('post', path).send(body).expect(400);
    expect(answer.body.error).toMatchObject({ code: 'validation_failed', param });
  });

  it('401 without the secret', async () => {
    const answer = await api.internal('post', path).set('Authorization', 'Bearer wrong').send({}).expect(401);
    expect(answer.body.error.code).toBe('unauthorized');
    expect(answer.headers['www-authenticate']).toMatch(/^Bearer /);
  });
});

describe('GET /internal/v1/organizations', () => {
  it('200 page by page, newest first, each organization once', async () => {
    const made: string[] = [];
    for (let count = 0; count < 5; count++) made.push((await api.createOrganization()).id);
    const seen: string[] = [];
    let cursor = '';
    do {
      const { body } = await api.internal('get', `${path}?limit=2${cursor}`).expect(200);
      seen.push(...body.data.map((organization: { id: string }) => organization.id));
      expect(body.has_more).toBe(body.next_cursor !== null);
      cursor = body.next_cursor === null ? '' : `&cursor=${body.next_cursor}`;
    } while (cursor !== '');
    expect(seen.slice(0, 5)).toEqual(made.reverse());
    expect(new Set(seen).size).toBe(seen.length);
  });

  it('400 for a malformed cursor', async () => {
    const answer = await api.internal('get', `${path}?cursor=abc`).expect(400);
    expect(answer.body.error).toMatchObject({ code: 'invalid_cursor', param: 'cursor' });
  });
});

describe('GET /internal/v1/organizations/{id}', () => {
  it('404 with the same body for an unknown and a malformed id', async () => {
    const bodies = await Promise.all(
      [unknownId, 'org_nonsense', '%zz', unknownId.toUpperCase()].map(async (id) => {
        const { body } = await api.internal('get', `${path}/${id}`).set('X-Request-Id', 'same').expect(404);
        return body;
      }),
    );
    for (const body of bodies) expect(body).toEqual(bodies[0]);
  });
});

describe('PATCH /internal/v1/organizations/{id}', () => {
  it('200 with the changed organization', async () => {
    const organization = await api.createOrganization('pro');
    const answer = await api.internal('patch', `${path}/${organization.id}`).send({ plan: 'business' }).expect(200);
    expect(answer.body).toEqual({ ...organization, plan: 'business' });
  });

  it('refuses and accepts the keys at once when the plan changes', async () => {
    const { secret, organization_id } = await api.createKey({ plan: 'pro' });
    await api.call('get', '/v1/me', secret).expect(200);
    await api.internal('patch', `${path}/${organization_id}`).send({ plan: 'starter' }).expect(200);
    const refused = await api.call('get', '/v1/me', secret).expect(403);
    expect(refused.body.error.code).toBe('plan_no_api_access');
    await api.internal('patch', `${path}/${organization_id}`).send({ plan: 'pro' }).expect(200);
    await api.call('get', '/v1/me', secret).expect(200);
  });

  it('400 for an empty change, before 404', async () => {
    await api.internal('patch', `${path}/${unknownId}`).send({}).expect(400);
  });

  it('404 for an unknown organization', async () => {
    await api.internal('patch', `${path}/${unknownId}`).send({ name: 'x' }).expect(404);
  });
});
