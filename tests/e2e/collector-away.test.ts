import {
  type ApiCustomer,
  createApiCustomer,
  queueBackends,
  readMetric,
  type ServiceProcess,
  testEvent,
  until,
} from '@enterprise-api/testkit';
import { type Collector, startCollector } from '@enterprise-api/testkit/collector';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { openTestStage, type TestStage, uuidOf } from './stage.ts';

describe('a collector of traces', () => {
  let stage: TestStage;
  let collector: Collector;
  const resources = new AsyncDisposableStack();

  beforeAll(async () => {
    const [postgres] = queueBackends();
    if (postgres === undefined) throw new Error('There is always the queue in PostgreSQL.');
    stage = resources.adopt(await openTestStage(postgres), (each) => each.close());
    collector = resources.use(await startCollector());
  });
  afterEach(() => stage.stopServices(), 120_000);
  afterAll(() => resources.disposeAsync(), 120_000);

  interface Running {
    customer: ApiCustomer;
    api: ServiceProcess;
    worker: ServiceProcess;
  }
  const start = async (settings: Record<string, string>): Promise<Running> => {
    const api = await stage.startApi(settings);
    const worker = await stage.startWorker({ ...settings, WEBHOOK_TRACEPARENT: 'true' });
    const customer = await createApiCustomer(api);
    await stage.subscribe({ organizationId: uuidOf('org', customer.organizationId) });
    return { customer, api, worker };
  };
  /** Has one event delivered. @returns what its receiver is told of the trace */
  const deliver = async ({ customer }: Running): Promise<unknown> => {
    const { type, data } = testEvent(uuidOf('org', customer.organizationId));
    const answer = await customer.emit([{ organization_id: customer.organizationId, type, data }]);
    expect(answer.status).toBe(202);
    const { id } = answer.body.data[0];
    const received = () => stage.receiver.requests.find(({ headers }) => headers['webhook-id'] === id);
    return (await until('the attempt', received, { withinMs: 60_000 }))?.headers.traceparent;
  };
  const dropped = ({ internalUrl }: ServiceProcess) =>
    readMetric(internalUrl, 'trace_spans_dropped_total', 'reason="not_exported"');
  const exitCodes = async () => (await stage.stopServices()).map(({ code }) => code);

  it('holds nothing up while it refuses spans, which are counted and warned of, nor a stop while it hangs', async () => {
    collector.answer(500);
    // A stop that waited for as long as this would be given up, and end with 1.
    const running = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_EXPORTER_OTLP_TIMEOUT: '60000' });
    await deliver(running);
    for (const service of [running.api, running.worker]) {
      await until('dropped spans', () => dropped(service), { holds: (count) => count > 0, withinMs: 60_000 });
      const warned = () =>
        service.logs().some((line) => line.msg === 'spans dropped' && line.reason === 'not_exported');
      await until('the warning', warned, { withinMs: 60_000 });
    }
    collector.answer('hangs');
    await deliver(running);
    expect(await exitCodes()).toEqual([0, 0]);
  });

  it('holds nothing up while it is away', async () => {
    // Nobody listens there.
    const away = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1', OTEL_EXPORTER_OTLP_TIMEOUT: '60000' };
    expect(await deliver(await start(away))).toMatch(/-01$/);
    expect(await exitCodes()).toEqual([0, 0]);
  });

  it('gets what is left at a stop', async () => {
    collector.answer(200);
    const running = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
    const told = await deliver(running);
    // The attempt ends before its worker does.
    expect(await running.worker.stop()).toMatchObject({ code: 0 });
    await collector.untilSpan('the attempt', (span) => `00-${span.traceId}-${span.spanId}-01` === told);
  });

  it('gets nothing with the sampler always_off, and receivers are told so', async () => {
    collector.answer(200);
    const before = collector.spans.length;
    const never = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_TRACES_SAMPLER: 'always_off' };
    expect(await deliver(await start(never))).toMatch(/-00$/);
    expect(await exitCodes()).toEqual([0, 0]);
    expect(collector.spans).toHaveLength(before);
  });

  it('gets nothing with OTEL_SDK_DISABLED=true, and nothing is kept', async () => {
    const before = collector.spans.length;
    const running = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_SDK_DISABLED: 'true' });
    expect(await deliver(running)).toBeUndefined();
    const organizationId = uuidOf('org', running.customer.organizationId);
    const rows = stage.db.selectFrom('events').select('traceparent').where('organization_id', '=', organizationId);
    expect(await rows.execute()).toEqual([{ traceparent: null }]);
    expect(await exitCodes()).toEqual([0, 0]);
    expect(collector.spans).toHaveLength(before);
  });
});
