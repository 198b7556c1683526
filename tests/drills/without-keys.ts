import { createApiClient, readMetric, until } from '@enterprise-api/testkit';
import type { FaultStage } from '../faults/stage.ts';
import { type Destroyed, idempotentWebhook } from './destroyed.ts';

const otherKeys = { SECRETS_ENCRYPTION_KEYS: `other:${Buffer.alloc(32, 3).toString('base64')}` };

/** The services start without the key ring of the backup, send nothing that they cannot sign, and repeat no effect. */
export async function withoutItsKeys(stage: FaultStage, destroyed: Destroyed): Promise<Record<string, boolean>> {
  const sentBefore = stage.requests.sent.length;
  const [api, worker] = await Promise.all([stage.startApi(otherKeys), stage.startWorker(otherKeys)]);
  const unreadable = () => readMetric(worker.url, 'webhook_unreadable_secrets_total');
  await until('a secret that cannot be read', unreadable, { holds: (count) => count > 0, withinMs: 60_000 });
  const customer = createApiClient(api, { key: destroyed.customer.key });
  const repeated = await idempotentWebhook(customer, stage.url('/keyed'));
  const page = await customer.call(
    'GET',
    `/v1/events?order=asc&cursor=${encodeURIComponent(destroyed.cursors.before)}`,
  );
  await Promise.all([worker.stop(), api.stop()]);
  return {
    'something was sent without the key ring': stage.requests.sent.length === sentBefore,
    [`an answer that cannot be read is ${repeated.status}`]: repeated.status === 503,
    [`a cursor of another key ring is ${page.status}`]: page.status === 400,
  };
}
