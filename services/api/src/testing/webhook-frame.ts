import { fromPublicId } from '@enterprise-api/shared/runtime';
import { alignPendingDeliveries, selectDeliveriesWithDueTime } from '@enterprise-api/testkit';
import { insertDelivery } from './rows.ts';
import { type TestApi, withCustomer } from './test-api.ts';

/** A customer with one webhook, new for each test. Ids are public. */
interface Customer {
  api: TestApi;
  key: string;
  organizationId: string;
  webhookId: string;
}

/** Begins each test of a file with a customer and a webhook; the returned object reads those of the test that runs. */
export function withWebhook(begin: (customer: Customer) => void) {
  let now: Customer;
  withCustomer(async (customer) => {
    now = { ...customer, webhookId: (await customer.api.createWebhook(customer.key)).id };
    begin(now);
  });
  const uuidOf = (deliveryId: string) => fromPublicId('dlv', deliveryId) as string;
  const path = () => `/v1/webhooks/${now.webhookId}`;
  return {
    uuidOf,
    insert: (fields: Parameters<typeof insertDelivery>[2] = {}) => insertDelivery(now.api.db, now, fields),
    rowOf: (deliveryId: string) =>
      selectDeliveriesWithDueTime(now.api.db).where('deliveries.id', '=', uuidOf(deliveryId)).executeTakeFirstOrThrow(),
    update: async (deliveryId: string, fields: object) => {
      await now.api.db.updateTable('deliveries').set(fields).where('id', '=', uuidOf(deliveryId)).execute();
      await alignPendingDeliveries(now.api.db);
    },
    updatePending: (deliveryId: string, fields: { next_attempt_at: Date; lease_count?: number }) =>
      now.api.db.updateTable('pending_deliveries').set(fields).where('delivery_id', '=', uuidOf(deliveryId)).execute(),
    /** As if it had been registered under older rules. */
    moveInside: () =>
      now.api.db
        .updateTable('webhooks')
        .set({ url: 'https://127.0.0.1/in' })
        .where('id', '=', fromPublicId('whk', now.webhookId) as string)
        .execute(),
    disable: () => now.api.call('patch', path(), now.key).send({ enabled: false }).expect(200),
    remove: () => now.api.call('delete', path(), now.key).expect(204),
  };
}
