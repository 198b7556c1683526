import {
  createApiCustomer,
  type Prometheus,
  queueBackends,
  type SteadyLoad,
  sendRequest,
  startPrometheus,
  steadily,
  testEvent,
  until,
} from '@enterprise-api/testkit';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { dashboardExpressions } from '../../tools/monitoring/dashboard.ts';
import { readExpression } from '../../tools/monitoring/promql.ts';
import { openTestStage, type TestStage, uuidOf } from '../e2e/stage.ts';
import { readExposition } from './exposition.ts';

const backend = queueBackends().at(-1);
let stage: TestStage;
let prometheus: Prometheus;
let load: SteadyLoad;
/** The metrics that either service exports. */
const exported = new Set<string>();
/** Metrics that have series: some, such as the metrics of forwarded requests, need their kind of traffic. */
const counted = new Set<string>();

beforeAll(async () => {
  if (backend === undefined) throw new Error('There is no queue backend.');
  stage = await openTestStage(backend);
  const [api, worker] = await Promise.all([stage.startApi(), stage.startWorker()]);
  const failing = await stage.startReceiver({ respond: () => ({ status: 500 }) });
  const customer = await createApiCustomer(api);
  await customer.createWebhook(stage.receiver.url('/works'));
  await customer.createWebhook(failing.url('/fails'));
  const organizationId = uuidOf('org', customer.organizationId);
  load = steadily(5, async () => {
    await customer.emit([testEvent(organizationId)]);
    await customer.call('GET', '/v1/me');
  });
  prometheus = await startPrometheus(configuration(api.internalUrl, worker.url));
  const failed = 'count_over_time(webhook_attempts_total{result="retry"}[1m]) > 5';
  await until('failed attempts in some scrapes', () => prometheus.query(failed), {
    withinMs: 60_000,
    holds: (series) => series.length > 0,
  });
  const texts = await Promise.all(
    [api.internalUrl, worker.url].map((url) => sendRequest({ method: 'GET', url: `${url}/metrics` })),
  );
  for (const { types, series } of texts.map(({ text }) => readExposition(text))) {
    for (const metric of types.keys()) exported.add(metric);
    for (const { metric } of series) counted.add(metric);
  }
});

afterAll(async () => {
  await load.stop();
  await prometheus[Symbol.asyncDispose]();
  await stage.close();
});

it.each(dashboardExpressions())('the panel "$panel" shows what both services export: $expression', async (panel) => {
  const expression = panel.expression.replaceAll('$__rate_interval', '1m');
  const metrics = readExpression(expression).selectors.map(({ metric }) => metricOf(metric));
  expect(metrics.filter((metric) => !exported.has(metric))).toEqual([]);
  // What has no series yet must be an expression that Prometheus accepts, which `query` throws for otherwise.
  const isCounted = metrics.every((metric) => counted.has(metric));
  await until('data', () => prometheus.query(expression), {
    withinMs: 30_000,
    holds: (series) => series.length > 0 || !isCounted,
  });
});

it('has all metrics of the jobs that the alert rules name', async () => {
  for (const job of ['enterprise-api', 'enterprise-api-webhook-worker'])
    expect(await prometheus.query(`up{job="${job}"} == 1`)).toHaveLength(1);
});

/** The metric that a series belongs to: the parts of a histogram are exported under its name. */
function metricOf(name: string): string {
  const whole = name.replace(/_(bucket|sum|count)$/, '');
  return exported.has(whole) ? whole : name;
}

function configuration(apiUrl: string, workerUrl: string): string {
  const job = (name: string, url: string) =>
    `  - { job_name: ${name}, static_configs: [{ targets: ['${new URL(url).host}'] }] }\n`;
  const global = 'global: { scrape_interval: 1s }\nscrape_configs:\n';
  return global + job('enterprise-api', apiUrl) + job('enterprise-api-webhook-worker', workerUrl);
}
