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

  it('201 with the external id, which the organization alone has', async () => {
    const body = { name: 'Acme', plan: 'pro', external_id: 'crm/4711' };
    const first = await api.internal('post', path).send(body).expect(201);
    expect(first.body.external_id).toBe('crm/4711');
    const second = await api.internal('post', path).send(body).expect(409);
    expect(second.body.error).toMatchObject({ code: 'conflict', message: expect.stringContaining('external_id') });
  });

  it('201 once of many at a time with one external id', async () => {
    const body = { name: 'Acme', plan: 'pro', external_id: 'crm/at-once' };
    const answers = await Promise.all(Array.from({ length: 6 }, () => api.internal('post', path).send(body)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409]);
  });

  it.each([
    [{}, 'name'],
    [{ name: 'x', plan: 'pro', external_id: '' }, 'external_id'],
    [{ name: 'x', plan: 'pro', external_id: 'two words' }, 'external_id'],
    [{ name: 'x', plan: 'pro', external_id: 'x'.repeat(201) }, 'external_id'],
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

  it('200 with the organization that has an external id, or with none', async () => {
    const { body } = await api
      .internal('post', path)
      .send({ name: 'A', plan: 'pro', external_id: 'found' })
      .expect(201);
    const found = await api.internal('get', `${path}?external_id=found`).expect(200);
    expect(found.body.data).toEqual([body]);
    expect((await api.internal('get', `${path}?external_id=missing`).expect(200)).body.data).toEqual([]);
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

  it('200 with another external id, and without one after null', async () => {
    const { id } = await api.createOrganization();
    const patch = (external_id: string | null) => api.internal('patch', `${path}/${id}`).send({ external_id });
    for (const external_id of ['a', 'b', 'b', null, null]) {
      expect((await patch(external_id).expect(200)).body.external_id).toBe(external_id);
    }
    const { body } = await api.internal('get', `/internal/v1/audit?object_id=${id}`).expect(200);
    const changes = body.data.map(({ changed_fields }: { changed_fields: string[] }) => changed_fields);
    expect(changes).toEqual([[], ['external_id'], [], ['external_id'], ['external_id'], ['name', 'plan']]);
  });

  it('409 for an external id that another organization has', async () => {
    await api.internal('post', path).send({ name: 'A', plan: 'pro', external_id: 'taken' }).expect(201);
    const { id } = await api.createOrganization();
    await api.internal('patch', `${path}/${id}`).send({ external_id: 'taken' }).expect(409);
    expect((await api.internal('get', `${path}/${id}`).expect(200)).body.external_id).toBeNull();
  });

  it('does not show the external id to clients', async () => {
    const { secret, organization_id } = await api.createKey();
    await api.internal('patch', `${path}/${organization_id}`).send({ external_id: 'hidden-id' }).expect(200);
    expect(JSON.stringify((await api.call('get', '/v1/me', secret).expect(200)).body)).not.toContain('hidden-id');
  });

  it('200 with a shorter retention, which its keys see, and with the setting again after null', async () => {
    const { secret, organization_id: id } = await api.createKey({ scopes: ['*'] });
    const setting = 2_592_000;
    const patch = (body_retention_seconds: unknown) =>
      api.internal('patch', `${path}/${id}`).send({ body_retention_seconds });
    expect((await api.internal('get', `${path}/${id}`).expect(200)).body.body_retention_seconds).toBeNull();
    for (const seconds of [0, 86_400, setting, null]) {
      expect((await patch(seconds).expect(200)).body.body_retention_seconds).toBe(seconds);
      const me = await api.call('get', '/v1/me', secret).expect(200);
      expect(me.body.organization.body_retention_seconds).toBe(seconds ?? setting);
      const policy = await api.call('get', '/v1/webhooks/delivery-policy', secret).expect(200);
      expect(policy.body.body_retention_seconds).toBe(seconds ?? setting);
    }
    for (const wrong of [-1, setting + 1, 0.5, '60', 3_000_000_000]) {
      const { body } = await patch(wrong).expect(400);
      expect(body.error).toMatchObject({ code: 'validation_failed', param: 'body_retention_seconds' });
    }
    expect((await api.internal('get', `${path}/${id}`).expect(200)).body.body_retention_seconds).toBeNull();
  });

  it('400 for an empty change, before 404', async () => {
    await api.internal('patch', `${path}/${unknownId}`).send({}).expect(400);
  });

  it('404 for an unknown organization', async () => {
    await api.internal('patch', `${path}/${unknownId}`).send({ name: 'x' }).expect(404);
  });
});
