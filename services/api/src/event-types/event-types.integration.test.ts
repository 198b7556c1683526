import { eventBodySchema, subscribableEventTypeNames } from '@enterprise-api/shared/contracts';
import { describe, expect, it } from '@jest/globals';
import { type TestApi, withCustomer } from '../testing/test-api.ts';

let api: TestApi;
let key: string;
withCustomer((customer) => {
  ({ api, key } = customer);
});

const path = '/v1/webhooks/event-types';

describe('GET /v1/webhooks/event-types', () => {
  it('200 with the subscribable types, each with a schema and an example of the whole body', async () => {
    const { body } = await api.call('get', path, key).expect(200);
    expect(body).toMatchObject({ object: 'list', has_more: false, next_cursor: null });
    expect(body.data.map(({ type }: { type: string }) => type)).toEqual(subscribableEventTypeNames);
    for (const { type, object, description, schema, example } of body.data) {
      expect([object, typeof description]).toEqual(['event_type', 'string']);
      expect(schema).toMatchObject({
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        required: ['id', 'type', 'timestamp', 'organization_id', 'data'],
        properties: { type: { const: type }, data: { type: 'object' } },
      });
      expect(eventBodySchema(type).safeParse(example).error).toBeUndefined();
    }
  });

  it('200 page by page', async () => {
    const first = (await api.call('get', `${path}?limit=6`, key).expect(200)).body;
    expect([first.data.length, first.has_more]).toEqual([6, true]);
    const second = (await api.call('get', `${path}?limit=6&cursor=${first.next_cursor}`, key).expect(200)).body;
    const types = [...first.data, ...second.data].map(({ type }: { type: string }) => type);
    expect(types).toEqual(subscribableEventTypeNames);
    expect([second.has_more, second.next_cursor]).toEqual([false, null]);
  });

  it('400 for an unknown parameter and for a cursor of another list', async () => {
    await api.call('get', `${path}?type=batch.failed`, key).expect(400);
    await api.createWebhook(key);
    await api.createWebhook(key);
    const { next_cursor } = (await api.call('get', '/v1/webhooks?limit=1', key).expect(200)).body;
    const answer = await api.call('get', `${path}?cursor=${next_cursor}`, key).expect(400);
    expect(answer.body.error.code).toBe('invalid_cursor');
  });

  it('403 without webhooks:read', async () => {
    const { secret } = await api.createKey({ scopes: ['webhooks:write'] });
    await api.call('get', path, secret).expect(403);
  });
});
