import { createApiCustomer, queueBackends, sendRequest, testEvent, until } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readMetricList, type ServiceWithMetrics } from '../../tools/monitoring/metric-list.ts';
import { openTestStage, type TestStage, uuidOf } from '../e2e/stage.ts';
import { type Exposition, readExposition } from './exposition.ts';

const services = ['api', 'webhook-worker'] as const;
const onLinuxOnly = ['process_virtual_memory_bytes', 'process_heap_bytes', 'process_open_fds', 'process_max_fds'];
const listedFor = (service: ServiceWithMetrics) =>
  readMetricList().filter(
    ({ name, services: those }) =>
      those.includes(service) && (process.platform === 'linux' || !onLinuxOnly.includes(name)),
  );

describe.each(queueBackends())('the metrics of both services after some traffic, queued on $name', (backend) => {
  let stage: TestStage;
  let texts: Record<ServiceWithMetrics, string>;
  let exported: Record<ServiceWithMetrics, Exposition>;
  /** What belongs to an organization, and must not be a label. */
  const needles: string[] = [];

  beforeAll(async () => {
    stage = await openTestStage(backend);
    // Only the receiver's own address: any other private one is refused.
    const settings = { WEBHOOK_ALLOWED_PRIVATE_CIDRS: '127.0.0.0/30,::1/128', BUILD_COMMIT: '0123abc' };
    const [api, worker] = await Promise.all([stage.startApi(settings), stage.startWorker(settings)]);
    const customer = await createApiCustomer(api);
    const failing = await stage.startReceiver({ respond: () => ({ status: 500 }) });
    const hooks = [
      await customer.createWebhook(stage.receiver.url('/works')),
      await customer.createWebhook(failing.url('/fails')),
    ];
    // Stored by hand, because the API would refuse it.
    await stage.subscribe({ organizationId: uuidOf('org', customer.organizationId), url: 'https://127.9.9.9/hook' });
    // One request is refused for what it names, one for its key.
    await customer.call('GET', '/v1/webhooks/whk_unknown');
    await customer.call('GET', '/v1/me', undefined, { authorization: 'Bearer nonsense' });
    await customer.emit([testEvent(uuidOf('org', customer.organizationId))]);
    const isTried = (rows: { attempt_count: number }[]) =>
      rows.length === 3 && rows.every((row) => row.attempt_count > 0);
    await stage.untilDeliveries(uuidOf('org', customer.organizationId), isTried, 30_000);
    const read = async (url: string) => (await sendRequest({ method: 'GET', url: `${url}/metrics` })).text;
    // Some figures are read in the background of a scrape that does not wait for them.
    texts = await until(
      'every figure',
      async () => ({ api: await read(api.internalUrl), 'webhook-worker': await read(worker.url) }),
      {
        withinMs: 30_000,
        holds: (each) =>
          services.every((name) => /ledger_webhooks\{.*} [1-9]/.test(each[name])) &&
          /jobs_waiting\{/.test(each['webhook-worker']),
      },
    );
    exported = { api: readExposition(texts.api), 'webhook-worker': readExposition(texts['webhook-worker']) };
    needles.push(customer.organizationId, customer.key, customer.key.slice(0, 12), '127.0.0.1', 'localhost', '://');
    for (const { id, url } of hooks) needles.push(id, new URL(url).port, new URL(url).pathname);
  });
  afterAll(() => stage.close());

  it.each(services)('of the %s are those of docs/reference/metrics.md, of the same types', (service) => {
    const listed = listedFor(service).map(({ name, type }) => [name, type]);
    expect(Object.fromEntries(exported[service].types)).toEqual(Object.fromEntries(listed));
  });

  it.each(services)('of the %s have the labels that are listed, and `service`', (service) => {
    const listed = new Map(listedFor(service).map(({ name, labels }) => [name, labels]));
    for (const { metric, labels } of exported[service].series) {
      const { service: of, le: _bound, ...own } = labels;
      expect({ metric, of }).toEqual({ metric, of: service });
      expect({ metric, labels: Object.keys(own).sort() }).toEqual({ metric, labels: listed.get(metric)?.toSorted() });
    }
  });

  it.each(services)('of the %s name no id, no host, no URL and nothing of an organization in a label', (service) => {
    const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-/;
    const publicId = /_[0-9a-hjkmnp-tv-z]{26}/;
    for (const { labels } of exported[service].series)
      for (const value of Object.values(labels)) {
        expect(value).not.toMatch(uuid);
        expect(value).not.toMatch(publicId);
        expect(needles.filter((needle) => value.includes(needle))).toEqual([]);
      }
  });

  it('tell the attempts of each kind, and what was accepted is in the time to the first attempt', () => {
    const worker = texts['webhook-worker'];
    expect(worker).toMatch(/^webhook_first_attempt_seconds_count\{.*\} 3$/m);
    expect(worker).toMatch(/^webhook_blocked_addresses_total\{check="url",.*\} [1-9]/m);
    expect(worker).toMatch(/^webhook_attempts_total\{result="delivered",error="",.*\} 1$/m);
    expect(worker).toMatch(/^ledger_partitions_ahead_months\{.*\} 2$/m);
    expect(worker).toMatch(/^database_pool_size\{pool="ledger",.*\} 10$/m);
    expect(worker).toMatch(/^enterprise_api_build_info\{.*commit="0123abc".*\} 1$/m);
  });
});
