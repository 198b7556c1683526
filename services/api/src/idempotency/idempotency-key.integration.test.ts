import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApi, type TestApi } from '../testing/test-api.ts';

let api: TestApi;
let key: string;
beforeAll(async () => {
  api = await startTestApi();
  key = (await api.createKey()).secret;
});
afterAll(() => api.stop());

const good = { url: 'https://hooks.example.com/in', events: ['batch.*'], description: 'one' };

const post = (idempotencyKey: string, body: object = good) =>
  api.call('post', '/v1/webhooks', key).set('Idempotency-Key', idempotencyKey).send(body);

const postText = (idempotencyKey: string) =>
  api.call('post', '/v1/webhooks', key).set('Idempotency-Key', idempotencyKey).type('text/plain').send('hello');

describe('the Idempotency-Key', () => {
  it.each(['', 'two words', 'x'.repeat(256), 'caf\u00e9'])('400 for %j', async (value) => {
    const answer = await post(value).expect(400);
    expect(answer.body.error).toMatchObject({
      code: 'validation_failed',
      param: 'Idempotency-Key',
      details: [{ location: 'header', path: 'Idempotency-Key', code: 'invalid_format' }],
    });
  });

  it('400 when it appears twice, also with the same value', async () => {
    for (const values of [
      ['a', 'a'],
      ['a', 'b'],
    ]) {
      // An array is sent as that many headers, which the types do not know.
      const call = api.call('post', '/v1/webhooks', key).set('Idempotency-Key', values as unknown as string);
      const answer = await call.send(good).expect(400);
      expect(answer.body.error).toMatchObject({ code: 'validation_failed', param: 'Idempotency-Key' });
    }
  });

  it('400 together with every other invalid part, but after 415', async () => {
    const answer = await post('two words', { ...good, events: [] }).expect(400);
    expect(answer.body.error.details.map((detail: { path: string }) => detail.path)).toEqual([
      'events',
      'Idempotency-Key',
    ]);
    await postText('two words').expect(415);
  });

  it('may have 255 characters of any visible kind', async () => {
    const value = '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~'.padEnd(255, 'x');
    const first = await post(value).expect(201);
    expect((await post(value).expect(201)).text).toBe(first.text);
  });

  it('means nothing to other methods, and to the same key on the internal listener', async () => {
    const { body } = await post('elsewhere').expect(201);
    for (const description of ['a', 'b']) {
      const call = api.call('put', `/v1/webhooks/${body.id}`, key).set('Idempotency-Key', 'elsewhere');
      expect((await call.send({ description }).expect(200)).body.description).toBe(description);
    }
    await api.call('get', '/v1/me', key).set('Idempotency-Key', 'two words').expect(200);
    const make = api.internal('post', '/internal/v1/organizations').set('Idempotency-Key', 'elsewhere');
    const made = await make.send({ name: 'a', plan: 'pro' }).expect(201);
    expect(made.headers).not.toHaveProperty('idempotent-replayed');
  });
});
