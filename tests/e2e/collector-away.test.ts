import {
  type Collector,
  createApiCustomer,
  queueBackends,
  readMetric,
  type ServiceProcess,
  startCollector,
  testEvent,
  until,
} from '@enterprise-api/testkit';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { openTestStage, type TestStage, uuidOf } from './stage.ts';

/** Names each package of OpenTelemetry that a process loads, in its output. */
const namesWhatIsLoaded = `--import=data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module';
  registerHooks({
    resolve: (specifier, context, next) => {
      // The interface alone comes with the library of the metrics, and records nothing.
      if (specifier.startsWith('@opentelemetry/') && !specifier.endsWith('/api')) console.error('loads ' + specifier);
      return next(specifier, context);
    },
  });`)}`;

describe('a collector of traces', () => {
  let stage: TestStage;
  let collector: Collector;
  let organization: string;
  const resources = new AsyncDisposableStack();

  beforeAll(async () => {
    const [postgres] = queueBackends();
    if (postgres === undefined) throw new Error('There is always the queue in PostgreSQL.');
    stage = resources.adopt(await openTestStage(postgres), (each) => each.close());
    collector = resources.use(await startCollector());
  });
  afterEach(() => stage.stopServices());
  afterAll(() => resources.disposeAsync());

  /** Starts both services, and has one event delivered. */
  const deliver = async (settings: Record<string, string>): Promise<[ServiceProcess, ServiceProcess]> => {
    const api = await stage.startApi(settings);
    const worker = await stage.startWorker({ ...settings, WEBHOOK_TRACEPARENT: 'true' });
    const customer = await createApiCustomer(api);
    organization = uuidOf('org', customer.organizationId);
    await stage.subscribe({ organizationId: organization });
    const { type, data } = testEvent(organization);
    const answer = await customer.emit([{ organization_id: customer.organizationId, type, data }]);
    expect(answer.status).toBe(202);
    await stage.untilDeliveries(organization, (rows) => rows[0]?.status === 'succeeded', 30_000);
    return [api, worker];
  };
  const traceparentTold = () => stage.receiver.requests.at(-1)?.headers.traceparent;
  const dropped = ({ internalUrl }: ServiceProcess) =>
    readMetric(internalUrl, 'trace_spans_dropped_total', 'reason="not_exported"');

  it.each([
    ['refuses', 500],
    ['is overloaded', 503],
  ] as const)('that %s holds nothing up: its spans are dropped, counted and warned of', async (_what, status) => {
    collector.answer(status);
    const services = await deliver({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_TIMEOUT: '500',
    });
    for (const service of services) {
      await until('dropped spans', () => dropped(service), { holds: (count) => count > 0, withinMs: 30_000 });
      const warnings = () => service.logs().filter((line) => line.msg === 'spans dropped');
      expect(await until('the warning', warnings, { holds: (lines) => lines.length > 0 })).toHaveLength(1);
    }
    const exits = await stage.stopServices();
    expect(exits.map(({ code }) => code)).toEqual([0, 0]);
  });

  it.each([
    ['that hangs', () => collector.url],
    // Nobody listens there.
    ['that is away', () => 'http://127.0.0.1:1'],
  ])('%s holds nothing up, and a stop waits for it no longer than a second', async (_what, url) => {
    collector.answer('hangs');
    // A stop that waited for as long as this would be given up, and end with 1.
    const settings = { OTEL_EXPORTER_OTLP_ENDPOINT: url(), OTEL_EXPORTER_OTLP_TIMEOUT: '60000' };
    await deliver(settings);
    expect((await stage.stopServices()).map(({ code }) => code)).toEqual([0, 0]);
  });

  it('gets what is left at a stop', async () => {
    collector.answer(200);
    const [, worker] = await deliver({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
    expect(await worker.stop()).toMatchObject({ code: 0 });
    await collector.untilSpan('the attempt', (span) => `00-${span.traceId}-${span.spanId}-01` === traceparentTold());
    const api = (await stage.stopServices()).map(({ code }) => code);
    expect(api.every((code) => code === 0)).toBe(true);
  });

  it.each([
    ['always_off', '1'],
    ['parentbased_traceidratio', '0'],
  ])('gets nothing with the sampler %s, and receivers are told so', async (sampler, ratio) => {
    collector.answer(200);
    const before = collector.spans.length;
    await deliver({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_TRACES_SAMPLER: sampler,
      OTEL_TRACES_SAMPLER_ARG: ratio,
    });
    expect(traceparentTold()).toMatch(/-00$/);
    await stage.stopServices();
    expect(collector.spans).toHaveLength(before);
  });

  it.each([
    ['no endpoint', {}],
    ['OTEL_SDK_DISABLED', { OTEL_SDK_DISABLED: 'true' }],
  ])('is not asked for with %s: none of its packages is loaded, and nothing is stored', async (what, settings) => {
    const before = collector.spans.length;
    const endpoint = what === 'no endpoint' ? {} : { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
    const services = await deliver({ ...settings, ...endpoint, NODE_OPTIONS: namesWhatIsLoaded });
    for (const { lines } of services) expect(lines.filter((line) => line.startsWith('loads '))).toEqual([]);
    expect(traceparentTold()).toBeUndefined();
    const rows = stage.db.selectFrom('events').select('traceparent').where('organization_id', '=', organization);
    expect(await rows.execute()).toEqual([{ traceparent: null }]);
    await stage.stopServices();
    expect(collector.spans).toHaveLength(before);
  });

  it('needs packages that a process loads at its start', async () => {
    const settings = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, NODE_OPTIONS: namesWhatIsLoaded };
    const services = await Promise.all([stage.startApi(settings), stage.startWorker(settings)]);
    for (const { lines } of services) expect(lines).toContain('loads @opentelemetry/sdk-trace');
  });
});
