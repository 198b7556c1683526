import { describe, expect, it } from '@jest/globals';
import { insertDelivery } from '../testing/rows.ts';
import { type TestApi, withCustomer } from '../testing/test-api.ts';

let api: TestApi;
let key: string;
let organizationId: string;
withCustomer((customer) => {
  ({ api, key, organizationId } = customer);
});

const path = (list: string, id = organizationId) => `/internal/v1/organizations/${id}/${list}`;

describe.each([
  ['webhooks', '/v1/webhooks'],
  ['deliveries', '/v1/webhooks/deliveries'],
])('GET /internal/v1/organizations/{id}/%s', (list, publicPath) => {
  it('200 with the pages that the organization itself gets, and nothing of others', async () => {
    for (let count = 0; count < 3; count++) {
      const { id } = await api.createWebhook(key);
      await insertDelivery(api.db, { organizationId, webhookId: id }, { status: 'failed' });
    }
    const stranger = await api.createKey();
    await api.createWebhook(stranger.secret);
    const shown = (await api.internal('get', `${path(list)}?limit=2`).expect(200)).body;
    const own = (await api.call('get', `${publicPath}?limit=2`, key).expect(200)).body;
    expect(shown).toEqual(own);
    expect(shown.data).toHaveLength(2);
    const next = (await api.internal('get', `${path(list)}?limit=2&cursor=${shown.next_cursor}`).expect(200)).body;
    expect(next.data).toHaveLength(1);
  });

  it('404 for an unknown organization', async () => {
    await api.internal('get', path(list, 'org_01jd6kz5r8e2v9qxm3c7t4b0na')).expect(404);
  });
});

it('filters as the organization itself does', async () => {
  const { id } = await api.createWebhook(key);
  const place = { organizationId, webhookId: id };
  const failed = await insertDelivery(api.db, place, { status: 'failed' });
  await insertDelivery(api.db, place, { status: 'succeeded' });
  const { body } = await api.internal('get', `${path('deliveries')}?status=failed&order=asc`).expect(200);
  expect(body.data.map((delivery: { id: string }) => delivery.id)).toEqual([failed.id]);
});
