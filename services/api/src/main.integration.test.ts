import { Agent, request } from 'node:http';
import { createDatabase } from '@enterprise-api/shared/ledger';
import {
  createApiCustomer,
  createTestDatabase,
  freePort,
  type ServiceProcess,
  startService,
  stopAllServices,
  type TestDatabase,
  testEvent,
} from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';

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

async function outcomeOf(env: Record<string, string>): Promise<{ code: number | null; output: string }> {
  const service = await startService('api', env, { waitUntilReady: false });
  const { code } = await service.exited;
  return { code, output: service.lines.join('\n') };
}

describe('the process', () => {
  it('ends with 78 and names every invalid setting', async () => {
    const { code, output } = await outcomeOf({ INTERNAL_API_SECRET: 'short', API_AUTH_FAILURES: 'many' });
    expect(code).toBe(78);
    for (const name of ['DATABASE_URL', 'SECRETS_ENCRYPTION_KEYS', 'INTERNAL_API_SECRET', 'API_AUTH_FAILURES']) {
      expect(output).toContain(`${name}: `);
    }
    expect(output).not.toContain('short');
  });

  it('ends with 1 when the database is unreachable, and does not log its password', async () => {
    const url = `postgres://user:hunter2@127.0.0.1:${await freePort()}/nothing`;
    const { code, output } = await outcomeOf({ ...secrets, DATABASE_URL: url });
    expect(code).toBe(1);
    expect(output).toContain('The database cannot be used (ECONNREFUSED)');
    expect(output).not.toContain('hunter2');
  });

  it('ends with 1 when migrations are missing, and names the command to run', async () => {
    const bare = await createTestDatabase();
    const db = createDatabase({ url: bare.url, applicationName: 'enterprise-api-tests', poolSize: 1 });
    await sql`drop schema public cascade`.execute(db);
    await sql`create schema public`.execute(db);
    await db.destroy();
    const { code, output } = await outcomeOf({ ...secrets, DATABASE_URL: bare.url });
    expect(code).toBe(1);
    expect(output).toContain('make migrate');
    await bare.drop();
  });

  it('ends with 1 when its port is taken', async () => {
    const service = await startService('api', { ...secrets, DATABASE_URL: database.url });
    const { port } = new URL(service.url);
    const { code, output } = await outcomeOf({ ...secrets, DATABASE_URL: database.url, API_PORT: port });
    expect(code).toBe(1);
    expect(output).toContain(`Cannot listen on 127.0.0.1:${port} (EADDRINUSE)`);
    await service.stop();
  });

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
