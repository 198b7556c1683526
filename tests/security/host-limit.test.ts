import { insertOrganization, insertWebhook, lowest, queueBackends, testEvent } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openTestStage, type TestStage } from '../e2e/stage.ts';

describe.each(queueBackends())('a host with a hundred webhooks of one organization, queued on $name', (backend) => {
  let stage: TestStage;

  beforeAll(async () => {
    stage = await openTestStage(backend);
  });
  afterAll(() => stage.close());

  it('has at most 20 open requests per organization, and gets every delivery', async () => {
    const open = new Map<string, number>();
    const most = new Map<string, number>();
    const count = (path: string, by: number) => {
      open.set(path, (open.get(path) ?? 0) + by);
      most.set(path, Math.max(most.get(path) ?? 0, open.get(path) ?? 0));
    };
    const receiver = await stage.startReceiver({
      respond: async ({ path }) => {
        count(path, 1);
        count('all', 1);
        await new Promise((resolve) => setTimeout(resolve, 100));
        count(path, -1);
        count('all', -1);
        return {};
      },
    });
    const organizations = await Promise.all([1, 2].map(() => insertOrganization(stage.db)));
    for (const organizationId of organizations) {
      const url = receiver.url(`/${organizationId}`);
      await Promise.all(Array.from({ length: 100 }, () => insertWebhook(stage.db, { organizationId, url })));
    }
    await stage.startWorker();
    let rounds = 0;
    /** @returns the most requests that one organization had open at the same time */
    const deliverAll = async () => {
      rounds += 1;
      most.clear();
      await stage.producer.emit(organizations.flatMap((id) => [testEvent(id), testEvent(id), testEvent(id)]));
      for (const organizationId of organizations) {
        await stage.untilDeliveries(
          organizationId,
          (rows) => rows.length === 300 * rounds && rows.every((row) => row.status === 'succeeded'),
          45_000,
        );
      }
      return Math.max(...organizations.map((id) => most.get(`/${id}`) ?? 0));
    };
    // On a machine that stalls for a second, attempts count as slow, and more may start.
    expect(await lowest(20, deliverAll)).toBe(20);
    expect(most.get('all')).toBeGreaterThan(20);
    // Deliveries, not requests: on a machine that stalls for longer than a lease, one is sent again.
    const delivered = new Set(receiver.requests.map((request) => request.headers['x-service-delivery-id']));
    expect(delivered.size).toBe(600 * rounds);
  });
});
