import { type ApiCustomer, createApiCustomer, openStage, type Stage } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Program, prepareWithinMs, startProgram } from '../program.ts';
import { untilDelivery } from '../stage.ts';
import type { Framework } from './framework.ts';
import { readSnippet } from './snippets.ts';

/** Each framework, with its snippet of docs/customers/receive.md as it stands there, gets deliveries of the real services. */
export function describeFrameworks(frameworks: readonly Framework[]): void {
  let stage: Stage;
  let customer: ApiCustomer;

  beforeAll(async () => {
    stage = await openStage({ redisUrl: undefined });
    const [api] = await Promise.all([stage.startApi(), stage.startWorker()]);
    customer = await createApiCustomer(api);
  }, 120_000);
  afterAll(async () => {
    await stage?.[Symbol.asyncDispose]();
  });

  describe.each(frameworks)('the snippet of docs/customers/receive.md for $name', (framework) => {
    let receiver: Program;
    let webhookId: string;

    beforeAll(async () => {
      const { id, secret } = await customer.createWebhook('https://localhost:8443/webhooks');
      webhookId = id;
      const source = framework.complete(readSnippet(framework.name));
      receiver = await startProgram({ ...framework, source }, stage, secret);
    }, prepareWithinMs);
    afterAll(async () => {
      await customer.call('DELETE', `/v1/webhooks/${webhookId}`);
      await receiver?.[Symbol.asyncDispose]();
    });

    /** The outcome of the one attempt at a test event, when the webhook has this path. */
    const test = async (path: string, id = webhookId) => {
      await customer.call('PATCH', `/v1/webhooks/${id}`, { url: receiver.url(path) });
      const { body: sent } = await customer.call('POST', `/v1/webhooks/${id}/test`);
      const ended = ({ status }: { status: string }) => status !== 'pending';
      return await untilDelivery(customer, `&event_id=${sent.event_id}`, ended);
    };

    it('hands the bytes out that both signatures cover, of the largest event too', async () => {
      expect(await test('/webhooks')).toMatchObject({ status: 'succeeded', last_status_code: 204 });
      const organization_id = customer.organizationId as `org_${string}`;
      const data = { batch_id: 'bat_1', note: '{"grüße": "🎉"} \u2028', more: 'ä'.repeat(127 * 1_024) };
      const { body } = await customer.emit([{ organization_id, type: 'batch.completed', data }]);
      const query = `&event_id=${body.data[0].id}&webhook_id=${webhookId}`;
      const delivery = await untilDelivery(customer, query, ({ attempt_count }) => attempt_count > 0);
      expect(delivery).toMatchObject({ status: 'succeeded', last_status_code: 204 });
    }, 120_000);

    it('refuses a delivery that was signed with another secret', async () => {
      const other = await customer.createWebhook('https://localhost:8443/webhooks');
      expect(await test('/webhooks', other.id)).toMatchObject({ status: 'failed', last_status_code: 401 });
      await customer.call('DELETE', `/v1/webhooks/${other.id}`);
    });

    it('answers a slash too many or too few as the page says', async () => {
      expect(await test('/webhooks/')).toMatchObject({ last_status_code: framework.slash.tooMany });
      expect(await test('/slash')).toMatchObject({ last_status_code: framework.slash.tooFew });
    });
  });
}
