import { Agent, request } from 'node:http';
import {
  createApiCustomer,
  createTestDatabase,
  type ServiceProcess,
  startService,
  stopAllServices,
  type TestDatabase,
  testEvent,
} from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

const secrets = {
  SECRETS_ENCRYPTION_KEYS: `k1:${Buffer.alloc(32, 7).toString('base64')}`,
  INTERNAL_API_SECRET: 'internal-secret-of-the-tests-0123456789',
};

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  await stopAllServices();
  await database.drop();
});

describe('the process', () => {
  it('logs no Node.js warning during concurrent writes', async () => {
    await using service = await startService('api', { ...secrets, DATABASE_URL: database.url, LOG_LEVEL: 'warn' });
    const customer = await createApiCustomer(service, { internalSecret: secrets.INTERNAL_API_SECRET });
    const { call, createWebhook, emit, organizationId } = customer;
    const urls = Array.from({ length: 30 }, (_, index) => `https://hooks.example.com/${index}`);
    const webhooks = await Promise.all(urls.map((url) => createWebhook(url)));
    await Promise.all(webhooks.map(({ id }) => call('DELETE', `/v1/webhooks/${id}`)));
    await Promise.all(urls.map(() => emit([testEvent(organizationId)])));
    await service.stop();
    expect(service.lines.filter((line) => line.includes('Warning'))).toEqual([]);
  });

  it.each([
    ['CONSOLE_PUBLIC_URL', 'http://console.example.com'],
    ['CONSOLE_SIGN_IN_URL', 'javascript:alert(1)'],
  ])('ends with 78 because of %s=%s alone', async (name, value) => {
    const settings = { ...secrets, DATABASE_URL: database.url, CONSOLE_PUBLIC_URL: 'http://[::1]:3000', [name]: value };
    const service = await startService('api', settings, { waitUntilReady: false });
    expect((await service.exited).code).toBe(78);
    expect(service.lines.join()).toContain(`${name}: `);
  });

  it('stops on SIGTERM with 0, and no request under way fails', async () => {
    const service = await startService('api', { ...secrets, DATABASE_URL: database.url, LOG_LEVEL: 'warn' });
    const agent = new Agent({ keepAlive: true, maxSockets: 8 });
    const outcomes = await callUntilStopped(service, agent);
    agent.destroy();
    expect(await service.exited).toEqual({ code: 0, signal: null });
    expect(outcomes.statuses).toEqual(new Set([401]));
    expect(outcomes.failures).toEqual([]);
  });
});

/** Calls without a pause over kept-alive connections; sends SIGTERM in the middle; stops at the first refused connection. */
async function callUntilStopped(service: ServiceProcess, agent: Agent) {
  const statuses = new Set<number>();
  const failures: string[] = [];
  let refused = false;
  let calls = 0;
  const loop = async (): Promise<void> => {
    while (!refused) {
      const outcome = await call(`${service.url}/v1/me`, agent);
      calls++;
      if (typeof outcome === 'number') statuses.add(outcome);
      else if (outcome === 'ECONNREFUSED') refused = true;
      else failures.push(outcome);
      if (calls === 200) service.kill('SIGTERM');
    }
  };
  await Promise.all(Array.from({ length: 8 }, loop));
  return { statuses, failures };
}

function call(url: string, agent: Agent): Promise<number | string> {
  return new Promise((resolve) => {
    const sent = request(url, { agent }, (answer) => {
      answer.resume();
      answer.on('end', () => resolve(answer.statusCode ?? 0));
    });
    sent.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    sent.end();
  });
}
