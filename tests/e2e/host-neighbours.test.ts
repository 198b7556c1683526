import { insertOrganization, insertWebhook, queueBackends, testEvent } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openTestStage, type TestStage } from './stage.ts';

describe.each(queueBackends())('webhooks of one organization at one host, queued on $name', (backend) => {
  let stage: TestStage;

  beforeAll(async () => {
    stage = await openTestStage(backend);
  });
  afterAll(() => stage.close());

  it('are delivered while one of them hangs with all attempts that it may have', async () => {
    const gate = Promise.withResolvers<void>();
    const receiver = await stage.startReceiver({
      respond: ({ path }) => (path === '/hanging' ? gate.promise.then(() => ({})) : {}),
    });
    const received = (path: string) => receiver.requests.filter((request) => request.path === path).length;
    const organizationId = await insertOrganization(stage.db);
    await insertWebhook(stage.db, { organizationId, url: receiver.url('/hanging') });
    // The hanging attempts have every permit at first, and last longer than any wait below.
    await stage.startWorker({ WORKER_CONCURRENCY: '20', WEBHOOK_TIMEOUT_MS: '600000' });
    await stage.producer.emit(Array.from({ length: 30 }, () => testEvent(organizationId)));
    await receiver.waitFor(() => received('/hanging') === 20);
    await insertWebhook(stage.db, { organizationId, url: receiver.url('/healthy') });
    await stage.producer.emit([testEvent(organizationId)]);
    await receiver.waitFor(() => received('/healthy') === 1);
    // Attempts that have become slow are counted apart, and few more of the hanging webhook start.
    await stage.producer.emit([testEvent(organizationId)]);
    await receiver.waitFor(() => received('/healthy') === 2);
    expect(received('/hanging')).toBe(20);
    gate.resolve();
    await stage.untilDeliveries(organizationId, (rows) => rows.every((row) => row.status === 'succeeded'));
  });
});
