import { createEventProducer } from '@enterprise-api/shared/events';
import { toPublicId } from '@enterprise-api/shared/runtime';
import {
  type ApiCustomer,
  createApiCustomer,
  queueBackends,
  type ServiceProcess,
  startUpstream,
  testInternalSecret,
  type Upstream,
  until,
} from '@enterprise-api/testkit';
import { type Collector, type ReceivedSpan, startCollector } from '@enterprise-api/testkit/collector';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openTestStage, type TestStage, uuidOf } from './stage.ts';

const spanId = 'b7ad6b7169203331';
let traces = 0;
/** The context of a caller's trace that nobody else has. */
const newTrace = (flags = '01') => {
  traces += 1;
  const traceId = traces.toString(16).padStart(32, 'a');
  return { traceId, traceparent: `00-${traceId}-${spanId}-${flags}` };
};
const traceparentOf = ({ traceId, spanId: id }: ReceivedSpan) => `00-${traceId}-${id}-01`;

describe.each(queueBackends())('traces, queued on $name', (backend) => {
  let stage: TestStage;
  let collector: Collector;
  let upstream: Upstream;
  let api: ServiceProcess;
  let worker: ServiceProcess;
  let customer: ApiCustomer;
  let organizationId: string;
  const resources = new AsyncDisposableStack();

  beforeAll(async () => {
    stage = resources.adopt(await openTestStage(backend), (each) => each.close());
    collector = resources.use(await startCollector());
    upstream = resources.use(await startUpstream());
    const settings = {
      LOG_LEVEL: 'info',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-collector-key=hunter2%20and%20more',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=tests,service.name=not-this-one',
    };
    api = await stage.startApi({ ...settings, OTEL_SERVICE_NAME: 'our-api', API_UPSTREAMS: `batches=${upstream.url}` });
    worker = await stage.startWorker({ ...settings, OTEL_SERVICE_NAME: 'our-worker', WEBHOOK_TRACEPARENT: 'true' });
    customer = await createApiCustomer(api);
    organizationId = uuidOf('org', customer.organizationId);
    await stage.subscribe({ organizationId, url: stage.receiver.url('/hook-secret?token=hidden') });
  });
  afterAll(() => resources.disposeAsync());

  const event = () => ({
    organization_id: customer.organizationId,
    type: 'batch.failed' as const,
    data: { batch_id: 'confidential' },
  });
  const emit = async (traceparent: string | undefined, events = [event()]) => {
    const headers = traceparent === undefined ? {} : { traceparent };
    const answer = await customer.internal('POST', '/internal/v1/events', { events }, headers);
    expect(answer.status).toBe(202);
    return answer.body.data.map(({ id }: { id: string }) => id) as [string, ...string[]];
  };
  const stored = async (id: string) => {
    const row = stage.db.selectFrom('events').select('traceparent').where('id', '=', uuidOf('evt', id));
    return (await row.executeTakeFirstOrThrow()).traceparent;
  };
  const spanOf = (name: string, id: string) =>
    collector.untilSpan(
      `the span "${name}" of ${id}`,
      ({ name: its, attributes }) => its === name && attributes['messaging.message.id'] === id,
    );
  const attemptOf = (id: string, number = 1) =>
    collector.untilSpan(
      `attempt ${number} of ${id}`,
      ({ attributes }) =>
        attributes['enterprise_api.event_id'] === id && attributes['enterprise_api.attempt'] === number,
    );
  const received = (id: string) =>
    stage.receiver.requests
      .filter(({ headers }) => headers['webhook-id'] === id)
      .map(({ headers }) => headers.traceparent);

  it('lead from the span of a caller over its request, the event and the queue to every attempt', async () => {
    const { traceId, traceparent } = newTrace();
    let requests = 0;
    stage.receiver.respond(() => ({ status: requests++ === 0 ? 503 : 200 }));
    const [id] = await emit(traceparent);
    const [first, second] = [await attemptOf(id, 1), await attemptOf(id, 2)];
    const emitted = await spanOf('emit batch.failed', id);
    const fannedOut = await spanOf('fan out', id);
    const request = await collector.untilSpan('the request', (span) => span.spanId === emitted.parentSpanId);

    expect([request, emitted, fannedOut, first, second].map((span) => span.traceId)).toEqual(Array(5).fill(traceId));
    expect(request).toMatchObject({ name: 'POST /internal/v1/events', kind: 'server', parentSpanId: spanId });
    expect(request.attributes).toMatchObject({ 'http.response.status_code': 202, 'enterprise_api.events': 1 });
    expect(emitted).toMatchObject({ kind: 'producer', service: 'our-api', isError: false });
    expect(fannedOut).toMatchObject({ kind: 'consumer', parentSpanId: emitted.spanId, service: 'our-worker' });
    expect(first).toMatchObject({ name: 'POST webhook', kind: 'client', parentSpanId: emitted.spanId, isError: true });
    expect(first.attributes).toMatchObject({
      'http.response.status_code': 503,
      'server.address': 'localhost',
      'error.type': 'http_error',
      'enterprise_api.result': 'retry',
    });
    expect(second).toMatchObject({ parentSpanId: emitted.spanId, isError: false });
    expect(second.attributes).toMatchObject({ 'http.response.status_code': 200, 'http.request.resend_count': 1 });
    expect(first.endedAtMs).toBeGreaterThanOrEqual(first.startedAtMs);

    expect(await stored(id)).toBe(traceparentOf(emitted));
    expect(received(id)).toEqual([traceparentOf(first), traceparentOf(second)]);
    expect(emitted.resource).toMatchObject({ 'deployment.environment.name': 'tests', 'service.name': 'our-api' });
    expect(collector.requests[0]).toMatchObject({ 'x-collector-key': 'hunter2 and more' });
    for (const service of [api, worker]) {
      const lines = () => service.logs().filter((line) => line.trace_id === traceId);
      await until('a log line with the trace', lines, { holds: (found) => found.length > 0, withinMs: 30_000 });
    }
  });

  it('lead from the span of a producer, in its own transaction and through the queue, to the attempt', async () => {
    const redisUrl = stage.queue.kind === 'redis' ? stage.queue.url : undefined;
    const producer = createEventProducer({ databaseUrl: stage.databaseUrl, redisUrl, onError: () => undefined });
    const own = newTrace();
    const queued = newTrace();
    const [inTransaction] = await producer.transaction(stage.db, (_trx, emitEvents) => emitEvents(event(), own));
    const throughQueue = await producer.enqueue(event(), queued);
    await producer.close();
    for (const [id, { traceId }] of [
      [inTransaction?.id ?? '', own],
      [throughQueue, queued],
    ] as const) {
      expect(await attemptOf(id)).toMatchObject({ traceId, parentSpanId: spanId });
      expect(await spanOf('fan out', id)).toMatchObject({ traceId, parentSpanId: spanId });
    }
  });

  it('begin anew on the public listener, with a link to what its client says', async () => {
    const { traceId, traceparent } = newTrace('00');
    await customer.call('GET', '/v1/webhooks?limit=7', undefined, { traceparent, 'x-request-id': 'from-outside' });
    const request = await collector.untilSpan(
      'the request',
      ({ attributes }) => attributes['enterprise_api.request_id'] === 'from-outside',
    );
    expect(request).toMatchObject({ name: 'GET /v1/webhooks', parentSpanId: '', links: [{ traceId, spanId }] });
    expect(request.traceId).not.toBe(traceId);
    expect(request.attributes).toMatchObject({ 'enterprise_api.organization_id': customer.organizationId });
  });

  it('lead from the request for a test to its attempt', async () => {
    const { data } = (await customer.call('GET', '/v1/webhooks')).body;
    const headers = { 'x-request-id': 'asks-for-a-test' };
    const test = await customer.call('POST', `/v1/webhooks/${data[0].id}/test`, undefined, headers);
    expect(test.status).toBe(202);
    const request = await collector.untilSpan(
      'the request',
      ({ attributes }) => attributes['enterprise_api.request_id'] === 'asks-for-a-test',
    );
    const { traceId, spanId: parentSpanId } = request;
    expect(await attemptOf(test.body.event_id)).toMatchObject({ traceId, parentSpanId });
  });

  it('go on to an upstream, which is told of our trace and not of its client', async () => {
    const { traceparent } = newTrace();
    const headers = { traceparent, tracestate: 'a=b', 'x-request-id': 'passed-on' };
    await customer.call('GET', '/v1/batches/b1?token=hidden', undefined, headers);
    const forwarded = await collector.untilSpan('the forwarding', ({ name }) => name === 'GET batches');
    const request = await collector.untilSpan('the request', (span) => span.spanId === forwarded.parentSpanId);
    expect(forwarded).toMatchObject({ kind: 'client', traceId: request.traceId, isError: false });
    expect(forwarded.attributes).toMatchObject({ 'http.response.status_code': 200, 'enterprise_api.area': 'batches' });
    const passed = upstream.requests.at(-1)?.headers;
    expect(passed).toMatchObject({ traceparent: traceparentOf(forwarded) });
    expect(passed).not.toHaveProperty('tracestate');
  });

  it('go on to an ingress, which gets the context with the answer', async () => {
    const { traceId, traceparent } = newTrace();
    const answer = await customer.internal('GET', '/internal/v1/authorize', undefined, {
      authorization: `Bearer ${customer.key}`,
      'x-internal-authorization': `Bearer ${testInternalSecret}`,
      'x-forwarded-method': 'GET',
      'x-forwarded-uri': '/v1/me',
      'x-forwarded-for': '203.0.113.7',
      traceparent,
    });
    expect(answer.status).toBe(200);
    const request = await collector.untilSpan('the question', ({ name }) => name === 'GET /internal/v1/authorize');
    expect(request).toMatchObject({ parentSpanId: '', links: [{ traceId, spanId }] });
    expect(answer.headers.traceparent).toBe(traceparentOf(request));
  });

  it('begin anew for what a person has sent again, with a link to the event', async () => {
    const { traceId, traceparent } = newTrace();
    const [id] = await emit(traceparent);
    await attemptOf(id);
    const [delivery] = await until('the delivery', () => customer.deliveries(`&event_id=${id}&status=succeeded`), {
      holds: (rows) => rows.length === 1,
      withinMs: 30_000,
    });
    expect((await customer.call('POST', `/v1/webhooks/deliveries/${delivery?.id}/retry`)).status).toBe(202);
    const again = await attemptOf(id, 2);
    const emitted = await spanOf('emit batch.failed', id);
    expect(again).toMatchObject({ parentSpanId: '', links: [{ traceId, spanId: emitted.spanId }] });
    expect(again.traceId).not.toBe(traceId);
  });

  it('are one for each event of a large request, and one for all of a small one', async () => {
    const small = newTrace();
    const ids = await emit(small.traceparent, [event(), event()]);
    for (const id of ids) expect((await spanOf('emit batch.failed', id)).traceId).toBe(small.traceId);
    const large = newTrace();
    const others = { ...event(), organization_id: (await customer.createOrganization()).id };
    const many = await emit(large.traceparent, Array(101).fill(others));
    const spans = await Promise.all(many.map((id) => spanOf('emit batch.failed', id)));
    expect(new Set([large.traceId, ...spans.map((span) => span.traceId)]).size).toBe(102);
    for (const { links } of spans) expect(links).toMatchObject([{ traceId: large.traceId }]);
  });

  it('are not recorded where their caller does not, and nothing that follows is', async () => {
    const { traceId, traceparent } = newTrace('00');
    const [id] = await emit(traceparent);
    const many = await emit(traceparent, Array(101).fill({ ...event(), organization_id: customer.organizationId }));
    await until('the attempts', () => received(id).length === 1 && received(many.at(-1) ?? '').length === 1, {
      withinMs: 60_000,
    });
    expect(received(id)).toEqual([expect.stringMatching(new RegExp(`^00-${traceId}-[0-9a-f]{16}-00$`))]);
    const later = await emit(newTrace().traceparent);
    await attemptOf(later[0]);
    expect(collector.spans.filter((span) => span.traceId === traceId)).toEqual([]);
  });

  it('say nothing of bodies, keys, secrets, paths of receivers and queries', () => {
    const sent = Buffer.concat(collector.bodies).toString('latin1');
    const [, secretPart] = customer.key.split('_').slice(-2);
    for (const hidden of [
      'confidential',
      'hook-secret',
      'hidden',
      'hunter2',
      testInternalSecret,
      customer.key,
      secretPart,
    ]) {
      expect(hidden).toBeTruthy();
      expect(sent).not.toContain(hidden);
    }
    expect(sent).toContain(toPublicId('org', organizationId));
  });
});
