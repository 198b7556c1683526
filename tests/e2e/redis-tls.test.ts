import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createApiCustomer,
  createReceiverTrust,
  openStage,
  type ReceiverTrust,
  readMetric,
  startRedisCluster,
  startRedisWithSentinel,
  testEvent,
  until,
} from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

describe('several servers of Redis that speak TLS', () => {
  let trust: ReceiverTrust;
  let tls: { certificate: string; key: string; ca: string };
  beforeAll(async () => {
    trust = await createReceiverTrust();
    const file = (name: string) => join(tmpdir(), `${name}-${process.pid}.pem`);
    tls = { certificate: file('redis-certificate'), key: file('redis-key'), ca: trust.caFile };
    await writeFile(tls.certificate, trust.certificate.cert);
    await writeFile(tls.key, trust.certificate.key, { mode: 0o600 });
  });
  afterAll(async () => {
    await Promise.all([tls.certificate, tls.key].map((file) => rm(file, { force: true })));
    await trust[Symbol.asyncDispose]();
  });

  it.each([
    ['a Cluster', startRedisCluster],
    ['a master and its Sentinel', startRedisWithSentinel],
  ])('as %s hold the queue and the rate limits, and are refused without their CA', async (_what, start) => {
    await using group = await start({ tls });
    expect(group.url).toMatch(/^rediss\+/);
    await using stage = await openStage({ redisUrl: group.url, settings: { NODE_EXTRA_CA_CERTS: trust.caFile } });
    const receiver = await stage.startReceiver();
    const [api, worker, stranger] = await Promise.all([
      stage.startApi(),
      stage.startWorker(),
      stage.startApi({ NODE_EXTRA_CA_CERTS: '' }),
    ]);
    const decisions = async (of: typeof api, source: string) => {
      const customer = await createApiCustomer(of);
      expect((await customer.call('GET', '/v1/me')).status).toBe(200);
      return readMetric(of.internalUrl, 'api_rate_limit_decisions_total', `source="${source}"`);
    };
    const within = { withinMs: 30_000 };
    await until('a limit that is shared', () => decisions(api, 'shared'), within);
    expect(await decisions(stranger, 'local')).toBeGreaterThan(0);
    expect(await readMetric(stranger.internalUrl, 'api_rate_limit_decisions_total', 'source="shared"')).toBe(0);

    const { organizationId } = await stage.subscribe({ url: receiver.url('/hook') });
    const byJob = async () => {
      const customer = await createApiCustomer(api);
      expect((await customer.emit([testEvent(organizationId)])).status).toBe(202);
      return readMetric(worker.url, 'webhook_events_fanned_out_total', 'by="job"');
    };
    await until('an event that came by a job', byJob, within);
  });
});
