import { fromPublicId } from '@enterprise-api/shared/runtime';
import { describe, expect, it } from '@jest/globals';
import { type Customer, withCustomer } from '../testing/test-api.ts';

let customer: Customer;
withCustomer((begun) => {
  customer = begun;
});

const url = 'https://gateway.example.com/in';
const canary = 'Bearer canary-7f3a';
const headers = { Authorization: canary, 'X-Tenant': 'acme' };

const send = (method: 'post' | 'patch' | 'delete', path: string, body?: object) =>
  customer.api.call(method, `/v1/webhooks${path}`, customer.key).send(body);
const create = async () => (await send('post', '', { url, events: ['*'], headers }).expect(201)).body;
const rowOf = (id: string) =>
  customer.api.db
    .selectFrom('webhooks')
    .selectAll()
    .where('id', '=', fromPublicId('whk', id) as string)
    .executeTakeFirstOrThrow();

describe('headers of a webhook', () => {
  it('are stored encrypted; answers, the audit log and the log show no value', async () => {
    const created = await create();
    expect(created.header_names).toEqual(['Authorization', 'X-Tenant']);
    const { body } = await customer.api.call('get', `/v1/webhooks/${created.id}`, customer.key).expect(200);
    await send('patch', `/${created.id}`, { headers: { Authorization: `${canary}2` } }).expect(200);
    const audit = await customer.api.internal('get', `/internal/v1/audit?object_id=${created.id}`).expect(200);
    expect(audit.body.data[0].changed_fields).toEqual(['header_names', 'headers']);
    const everything = JSON.stringify([created, body, audit.body, await rowOf(created.id), customer.api.logLines]);
    expect(everything).not.toContain('canary');
  });

  it('are replaced as a whole, cleared by {}, and kept by other changes', async () => {
    const { id } = await create();
    const { body: kept } = await send('patch', `/${id}`, { description: 'x' }).expect(200);
    expect(kept.header_names).toEqual(['Authorization', 'X-Tenant']);
    const { body: replaced } = await send('patch', `/${id}`, { headers: { apikey: 'k' } }).expect(200);
    expect(replaced.header_names).toEqual(['apikey']);
    const { body: cleared } = await send('patch', `/${id}`, { headers: {} }).expect(200);
    expect(cleared.header_names).toEqual([]);
    expect(await rowOf(id)).toMatchObject({ header_names: null, headers_sealed: null });
  });

  it('must be given again for a url of another origin', async () => {
    const { id } = await create();
    await send('patch', `/${id}`, { url: 'https://gateway.example.com/other' }).expect(200);
    for (const moved of ['https://other.example.com/in', 'https://gateway.example.com:8443/in']) {
      const refused = await send('patch', `/${id}`, { url: moved }).expect(400);
      expect(refused.body.error).toMatchObject({ code: 'validation_failed', param: 'headers' });
    }
    expect((await rowOf(id)).url).toBe('https://gateway.example.com/other');
    const { body } = await send('patch', `/${id}`, { url: 'https://other.example.com/in', headers }).expect(200);
    expect(body).toMatchObject({ url: 'https://other.example.com/in', header_names: ['Authorization', 'X-Tenant'] });
    await send('patch', `/${id}`, { url: 'https://third.example.com/in', headers: {} }).expect(200);
    await send('patch', `/${id}`, { url }).expect(200);
  });

  it('are erased with the webhook', async () => {
    const { id } = await create();
    await send('delete', `/${id}`).expect(204);
    expect(await rowOf(id)).toMatchObject({ header_names: null, headers_sealed: null });
  });

  it.each(
    (
      'Host content-type Content-Foo Transfer-Encoding Connection keep-alive TE Trailer Upgrade Expect ' +
      'Proxy-Authorization traceparent User-Agent X-Service-Signature X-SERVICE-X webhook-id Webhook-Anything'
    ).split(' '),
  )('400 for the reserved name %s', async (name) => {
    const refused = await send('post', '', { url, events: ['*'], headers: { [name]: 'x' } }).expect(400);
    expect(refused.body.error).toMatchObject({ code: 'validation_failed', param: 'headers' });
  });

  it.each([
    [null],
    [[]],
    ['x'],
    [7],
    [{ '': 'x' }],
    [{ 'a b': 'x' }],
    [{ 'a:b': 'x' }],
    [{ ä: 'x' }],
    [{ 'x\r\ny': 'x' }],
    [{ a: '' }],
    [{ a: ' x' }],
    [{ a: 'x ' }],
    [{ a: 'x\ny' }],
    [{ a: 'ü' }],
    [{ a: 'x'.repeat(1_025) }],
    [{ a: null }],
    [{ a: ['x'] }],
    [{ a: 7 }],
    [{ 'X-A': '1', 'x-a': '2' }],
    [Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`x-${index}`, '1']))],
  ])('400 for %j', async (wrong) => {
    const refused = await send('post', '', { url, events: ['*'], headers: wrong }).expect(400);
    expect(refused.body.error).toMatchObject({ code: 'validation_failed', param: 'headers' });
  });

  it('may be 10, with 1,024 characters each, and any token as a name', async () => {
    const many = Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`x-${index}`, 'v'.repeat(1_024)]));
    const body = `{"url":"${url}","events":["*"],"headers":${JSON.stringify({ ...many, "!#$%&'*+.^_`|~": '~ !' }).slice(0, -1)},"__proto__":"x"}}`;
    const answer = await customer.api
      .call('post', '/v1/webhooks', customer.key)
      .set('Content-Type', 'application/json')
      .send(body)
      .expect(201);
    expect(answer.body.header_names).toHaveLength(10);
    expect(answer.body.header_names).toContain('__proto__');
  });
});
