import { createApiCustomer, queueBackends, type ServiceProcess, testEvent, until } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openTestStage, type TestStage, uuidOf } from './stage.ts';

describe.each(queueBackends())('a request id, queued on $name', (backend) => {
  let stage: TestStage;
  let api: ServiceProcess;
  let worker: ServiceProcess;

  beforeAll(async () => {
    stage = await openTestStage(backend);
    api = await stage.startApi({ LOG_LEVEL: 'info' });
    worker = await stage.startWorker({ LOG_LEVEL: 'info' });
  });
  afterAll(() => stage.close());

  it('is in the log line of every attempt for the event', async () => {
    const customer = await createApiCustomer(api);
    const organizationId = uuidOf('org', customer.organizationId);
    stage.receiver.respond((request) => ({ status: request.order === 0 ? 503 : 200 }));
    await stage.subscribe({ organizationId });

    const { type, data } = testEvent(organizationId);
    const event = { organization_id: customer.organizationId, type, data };
    const answer = await customer.internal('POST', '/internal/v1/events', event, { 'x-request-id': 'upload-17' });
    expect(answer).toMatchObject({ status: 202, headers: { 'x-request-id': 'upload-17' } });
    const { id } = answer.body.data[0];
    await stage.untilDeliveries(organizationId, (rows) => rows[0]?.status === 'succeeded');

    const row = await stage.db.selectFrom('events').select('request_id').where('id', '=', uuidOf('evt', id)).execute();
    expect(row).toEqual([{ request_id: 'upload-17' }]);
    const requests = () => api.logs().filter((line) => line.request_id === 'upload-17' && line.msg === 'request');
    const logged = await until('the log line of the request', requests, { holds: (lines) => lines.length > 0 });
    expect(logged).toMatchObject([{ event_ids: [id] }]);
    const attempts = () => worker.logs().filter((line) => line.msg === 'attempt' && line.event_id === id);
    expect(
      await until('the log lines of two attempts', attempts, { holds: (lines) => lines.length === 2 }),
    ).toMatchObject([
      { attempt: 1, request_id: 'upload-17' },
      { attempt: 2, request_id: 'upload-17' },
    ]);
  });

  it('is generated for a request without one, and is null for an event of a producer that names none', async () => {
    const customer = await createApiCustomer(api);
    const organizationId = uuidOf('org', customer.organizationId);
    const { type, data } = testEvent(organizationId);
    const answer = await customer.internal('POST', '/internal/v1/events', {
      events: [
        { organization_id: customer.organizationId, type, data },
        { organization_id: customer.organizationId, type, data },
      ],
    });
    const requestId = answer.headers['x-request-id'];
    expect(requestId).toMatch(/^req_/);
    await stage.producer.emit([testEvent(organizationId)]);
    const rows = await stage.db
      .selectFrom('events')
      .select('request_id')
      .where('organization_id', '=', organizationId)
      .orderBy('id')
      .execute();
    expect(rows.map((row) => row.request_id)).toEqual([requestId, requestId, null]);
  });
});
