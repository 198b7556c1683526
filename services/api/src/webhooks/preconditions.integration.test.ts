import { fromPublicId } from '@enterprise-api/shared/runtime';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApi, type TestApi } from '../testing/test-api.ts';

let api: TestApi;
let key: string;
beforeAll(async () => {
  api = await startTestApi();
  key = (await api.createKey()).secret;
});
afterAll(() => api.stop());

const good = { url: 'https://hooks.example.com/in', events: ['batch.*'] };
const unknownId = 'whk_01jd6kz5r8e2v9qxm3c7t4b0na';

async function make(): Promise<{ path: string; etag: string }> {
  const answer = await api.call('post', '/v1/webhooks', key).send(good).expect(201);
  return { path: `/v1/webhooks/${answer.body.id}`, etag: answer.headers.etag as string };
}

async function rowOf(path: string) {
  const id = fromPublicId('whk', path.slice('/v1/webhooks/'.length)) as string;
  return api.db.selectFrom('webhooks').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
}

describe('If-None-Match', () => {
  it('is 304 with the ETag and without a body while the webhook is as the client has seen it', async () => {
    const { path, etag } = await make();
    for (const method of ['get', 'head'] as const) {
      const answer = await api.call(method, path, key).set('If-None-Match', etag).expect(304);
      expect([answer.headers.etag, answer.text ?? '', answer.headers['content-length']]).toEqual([etag, '', undefined]);
      expect(answer.headers['cache-control']).toBe('no-store');
    }
    await api.call('get', path, key).set('If-None-Match', '"other"').expect(200);
    await api.call('patch', path, key).send({ description: 'changed' }).expect(200);
    await api.call('get', path, key).set('If-None-Match', etag).expect(200);
  });
});

describe('ETag', () => {
  it('is the same on creating and reading a webhook, and a new one after each change', async () => {
    const { path, etag } = await make();
    expect(etag).toMatch(/^"[\x21\x23-\x7e]+"$/);
    expect((await api.call('get', path, key).expect(200)).headers.etag).toBe(etag);
    const seen = new Set([etag]);
    for (const method of ['put', 'patch'] as const) {
      const changed = await api.call(method, path, key).send({ description: method }).expect(200);
      expect((await api.call('get', path, key).expect(200)).headers.etag).toBe(changed.headers.etag);
      seen.add(changed.headers.etag as string);
    }
    expect(seen.size).toBe(3);
  });

  it('is absent on lists, errors and 204', async () => {
    const { path } = await make();
    const answers = [
      await api.call('get', '/v1/webhooks', key).expect(200),
      await api.call('get', '/v1/me', key).expect(200),
      await api.call('put', path, key).set('If-Match', '"0"').send({ enabled: false }).expect(412),
      await api.call('delete', path, key).expect(204),
    ];
    for (const answer of answers) expect(answer.headers).not.toHaveProperty('etag');
  });
});

describe.each(['put', 'patch', 'delete'] as const)('If-Match on %s', (method) => {
  const send = (path: string, ifMatch: string) => {
    const call = api.call(method, path, key).set('If-Match', ifMatch);
    return method === 'delete' ? call : call.send({ description: 'changed' });
  };
  const success = method === 'delete' ? 204 : 200;

  it.each([
    ['the tag', (etag: string) => etag],
    ['*', () => '*'],
    ['a list with the tag', (etag: string) => `"other", ${etag},`],
  ])(`${success} for %s`, async (_name, write) => {
    const { path, etag } = await make();
    await send(path, write(etag)).expect(success);
  });

  it('412 when the webhook has changed since, and nothing is changed', async () => {
    const { path, etag } = await make();
    await api.call('patch', path, key).send({ description: 'first' }).expect(200);
    const before = await rowOf(path);
    const answer = await send(path, etag).expect(412);
    expect(answer.body.error).toMatchObject({ type: 'invalid_request_error', code: 'precondition_failed' });
    expect(await rowOf(path)).toEqual(before);
  });

  it('412 for a weak tag, which never matches', async () => {
    const { path, etag } = await make();
    await send(path, `W/${etag}`).expect(412);
  });

  it.each(['1', '"1', '"1" "2"', '*, "1"', ''])('400 for %j', async (header) => {
    const { path } = await make();
    const answer = await send(path, header).expect(400);
    expect(answer.body.error).toMatchObject({
      code: 'validation_failed',
      param: 'If-Match',
      details: [{ location: 'header', path: 'If-Match', code: 'invalid_format' }],
    });
  });

  it('400 before 404, 404 before 412', async () => {
    const path = `/v1/webhooks/${unknownId}`;
    await send(path, 'junk').expect(400);
    await send(path, '"1"').expect(404);
    await send(path, '*').expect(404);
  });

  it('lets exactly one of several changes of the same version through', async () => {
    const { path, etag } = await make();
    const answers = await Promise.all(Array.from({ length: 8 }, () => send(path, etag)));
    const statuses = answers.map((answer) => answer.status);
    expect(statuses.filter((status) => status === success)).toHaveLength(1);
    // A second DELETE no longer finds the webhook.
    const late = method === 'delete' ? 404 : 412;
    expect(statuses.filter((status) => status === late)).toHaveLength(7);
  });
});

it('If-Match is ignored by routes that do not declare it', async () => {
  const { path } = await make();
  await api.call('get', path, key).set('If-Match', 'junk').expect(200);
  await api.call('post', '/v1/webhooks', key).set('If-Match', '"0"').send(good).expect(201);
});
