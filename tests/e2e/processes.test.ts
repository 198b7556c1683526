import { createServer } from 'node:net';
import {
  createTestDatabase,
  type ServiceName,
  startRedis,
  startService,
  type TestDatabase,
  testInternalSecret,
  testKeyRing,
} from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import got from 'got';

const settings = { SECRETS_ENCRYPTION_KEYS: testKeyRing, INTERNAL_API_SECRET: testInternalSecret };

describe.each<ServiceName>(['api', 'webhook-worker'])('the process of %s', (name) => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());

  const run = async (env: Record<string, string>) => {
    const service = await startService(name, env, { waitUntilReady: false });
    const { code } = await service.exited;
    return { code, output: service.lines.join('\n') };
  };

  it('exits 78 and names all problems of its settings, without any value', async () => {
    const { code, output } = await run({
      DATABASE_URL: 'mysql://secret-user@localhost',
      SECRETS_ENCRYPTION_KEYS: 'main:c2VjcmV0',
      REDIS_URL: 'redis+sentinel://:secret-user@localhost:26379',
      LOG_LEVEL: 'loud',
    });
    expect(code).toBe(78);
    for (const setting of ['DATABASE_URL', 'REDIS_URL', 'SECRETS_ENCRYPTION_KEYS', 'LOG_LEVEL'])
      expect(output).toContain(`${setting}:`);
    expect(output).not.toMatch(/secret-user|c2VjcmV0/);
  });

  it('refuses to start where certificates are not verified', async () => {
    const { code, output } = await run({ ...settings, DATABASE_URL: database.url, NODE_TLS_REJECT_UNAUTHORIZED: '0' });
    expect([code, output]).toEqual([78, expect.stringContaining('NODE_TLS_REJECT_UNAUTHORIZED')]);
  });

  it('ends with a message when no server listens at DATABASE_URL', async () => {
    const { code, output } = await run({ ...settings, DATABASE_URL: 'postgres://user:hunter2@127.0.0.1:1/none' });
    expect([code, output]).toEqual([1, expect.stringContaining('database')]);
    expect(output).not.toContain('hunter2');
  });

  it('ends with a message when Redis refuses its password, and shows no password', async () => {
    const redis = await startRedis({ settings: { requirepass: 'right-secret' } });
    const REDIS_URL = `redis://:wrong-secret@${new URL(redis.url).host}`;
    const { code, output } = await run({ ...settings, DATABASE_URL: database.url, REDIS_URL });
    await redis.close();
    expect([code, output]).toEqual([
      1,
      expect.stringContaining('Redis refused the credentials in REDIS_URL: WRONGPASS'),
    ]);
    expect(output).not.toMatch(/(right|wrong)-secret/);
  });

  it('ends with a message when its port is in use', async () => {
    const other = createServer();
    const port = await new Promise<number>((resolve) => {
      other.listen(0, '127.0.0.1', () => resolve((other.address() as { port: number }).port));
    });
    const ports = name === 'api' ? { API_PORT: String(port) } : { WORKER_PORT: String(port) };
    const { code, output } = await run({ ...settings, DATABASE_URL: database.url, ...ports });
    other.close();
    expect([code, output]).toEqual([1, expect.stringContaining('EADDRINUSE')]);
  });

  it('starts, works and ends with 0 while Redis is away', async () => {
    const service = await startService(name, {
      ...settings,
      DATABASE_URL: database.url,
      REDIS_URL: 'redis://127.0.0.1:1',
    });
    expect((await got(`${service.url}/readyz`)).statusCode).toBe(200);
    expect(await service.stop()).toMatchObject({ code: 0 });
  });

  it('warns about a misspelt setting, starts, answers its probes, and ends with 0 on SIGTERM', async () => {
    const service = await startService(name, { ...settings, DATABASE_URL: database.url, WORKER_CONCURENCY: '5' });
    expect(JSON.stringify(service.logs())).toContain('WORKER_CONCURENCY');
    expect((await got(`${service.url}/healthz`)).statusCode).toBe(200);
    expect((await got(`${service.url}/readyz`)).statusCode).toBe(200);
    const metrics = await got(`${service.internalUrl}/metrics`).text();
    expect(metrics).toMatch(/^ledger_invariant_violations\S* 0$/m);
    expect(metrics).toMatch(/^ledger_outbox_events\S* 0$/m);
    expect(await service.stop()).toMatchObject({ code: 0 });
    expect(service.logs().map(({ msg }) => msg)).not.toContain('close failed');
  });
});
