import { migrations } from '@enterprise-api/shared/ledger';
import {
  createApiCustomer,
  openStage,
  type ServiceName,
  type Stage,
  startService,
  testEvent,
  testInternalSecret,
  testKeyRing,
  until,
} from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage({ redisUrl: undefined });
});
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

const secrets = { SECRETS_ENCRYPTION_KEYS: testKeyRing, INTERNAL_API_SECRET: testInternalSecret };
const newest = Object.keys(migrations).sort().at(-1) ?? '';

describe('a ledger of the version before', () => {
  it.each<ServiceName>(['api', 'webhook-worker'])('%s ends with 1 and names the command to run', async (name) => {
    await sql`update kysely_migration set name = 'held-back' where name = ${newest}`.execute(stage.db);
    const service = await startService(
      name,
      { ...secrets, DATABASE_URL: stage.databaseUrl },
      { waitUntilReady: false },
    );
    const { code } = await service.exited;
    await sql`update kysely_migration set name = ${newest} where name = 'held-back'`.execute(stage.db);
    expect(code).toBe(1);
    expect(service.lines.join('\n')).toContain(`The database lacks migrations (${newest}). Run: make migrate`);
  });
});

describe('a ledger of the next version', () => {
  it('serves the services of this one, and their work goes on', async () => {
    await sql`insert into kysely_migration values ('9999-of-the-next-version', ${new Date().toISOString()})`.execute(
      stage.db,
    );
    // What an expanding migration may add: nobody of this version knows it.
    await sql`alter table deliveries add column of_the_next_version text not null default 'none'`.execute(stage.db);
    await sql`alter table events add column of_the_next_version int`.execute(stage.db);
    const receiver = await stage.startReceiver();
    const [api] = await Promise.all([stage.startApi(), stage.startWorker()]);
    const customer = await createApiCustomer(api);
    await customer.createWebhook(receiver.url('/hook'));
    expect((await customer.emit([testEvent(customer.organizationId)])).status).toBe(202);
    const isSent = (found: { status: string }[]) => found[0]?.status === 'succeeded';
    await until('the delivery', () => customer.deliveries(), { holds: isSent, withinMs: 30_000 });
  });
});
