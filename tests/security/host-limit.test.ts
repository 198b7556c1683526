import { insertOrganization, insertWebhook, queueBackends, testEvent } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openTestStage, type TestStage } from '../e2e/stage.ts';

describe.each(queueBackends())('a host with a hundred webhooks of one organization, queued on $name', (backend) => {
  let stage: TestStage;

  beforeAll(async () => {
    stage = await openTestStage(backend);
  });
  afterAll(() => stage.close());

  it('has at most 300 open requests of an organization while all of them are slow, and gets every delivery', async () => {
    const open = new Map<string, number>();
    const most = new Map<string, number>();
    const count = (path: string, by: number) => {
      open.set(path, (open.get(path) ?? 0) + by);
      most.set(path, Math.max(most.get(path) ?? 0, open.get(path) ?? 0));
    };
    const receiver = await stage.startReceiver({
      respond: async ({ path }) => {
        count(path, 1);
        await new Promise((resolve) => setTimeout(resolve, slowMs));
        count(path, -1);
        return {};
      },
    });
    const organizations = await Promise.all([1, 2].map(() => insertOrganization(stage.db)));
    for (const organizationId of organizations) {
      const url = receiver.url(`/${organizationId}`);
      await Promise.all(Array.from({ length: 100 }, () => insertWebhook(stage.db, { organizationId, url })));
    }
    await stage.startWorker();
    const events = Array.from({ length: 8 }, () => organizations.map((id) => testEvent(id)));
    await stage.producer.emit(events.flat());
    for (const organizationId of organizations) {
      const areDone = (rows: { status: string }[]) =>
        rows.length === 100 * events.length && rows.every((row) => row.status === 'succeeded');
      await stage.untilDeliveries(organizationId, areDone, 180_000);
    }
    for (const id of organizations) {
      expect(most.get(`/${id}`)).toBeLessThanOrEqual(300);
      expect(most.get(`/${id}`)).toBeGreaterThan(50);
    }
  });
});

/** An attempt that is older than a second is slow. */
const slowMs = 2_500;
