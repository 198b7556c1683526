import { createDatabase, type Database } from '@enterprise-api/shared/ledger';
import { elapsedMs, type FaultProxy, lowest, until } from '@enterprise-api/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { type ProxiedApi, startProxiedApi } from '../testing/proxied-api.ts';
import type { TestApi } from '../testing/test-api.ts';

/** The API reaches PostgreSQL through a proxy; the test itself does not. */
let proxied: ProxiedApi;
let api: TestApi;
let direct: Database;
let proxy: FaultProxy;
let organization_id: string;
let key: string;

beforeAll(async () => {
  proxied = await startProxiedApi();
  ({ api, proxy } = proxied);
  direct = createDatabase({ url: proxied.databaseUrl, applicationName: 'test', poolSize: 2 });
});
afterAll(async () => {
  await direct.destroy();
  await proxied.stop();
});
beforeEach(async () => {
  await proxied.recover();
  ({ organization_id, secret: key } = await api.createKey());
  await api.createWebhook(key);
  await emit('warm-up').expect(202);
});

const emit = (id?: string) =>
  api
    .internal('post', '/internal/v1/events')
    .send({ organization_id, type: 'batch.failed', data: { batch_id: 'b' }, id });
const createWebhook = () => api.call('post', '/v1/webhooks', key).send({ url: 'https://example.com', events: ['*'] });
const createOrganization = (name: string) =>
  api.internal('post', '/internal/v1/organizations').send({ name, plan: 'pro' });

const countEvents = async () => (await direct.selectFrom('events').select('id').execute()).length;
const countWebhooks = async () => (await direct.selectFrom('webhooks').select('id').execute()).length;

/** Lets the database answer again, and waits until everything that was waiting for it has gone through. */
async function recover(): Promise<void> {
  await proxied.recover();
  const idle = async () => {
    const { rows } = await sql`
      select from pg_stat_activity
      where datname = current_database() and application_name = 'enterprise-api' and state <> 'idle'`.execute(direct);
    return rows.length === 0;
  };
  await until('no statement runs', idle);
  // What waited in the pool runs before what asks now.
  await Promise.all(Array.from({ length: 20 }, () => api.call('get', '/v1/webhooks', key).expect(200)));
  await until('no statement runs', idle);
}

describe.each(['freeze', 'cut'] as const)(
  'a write that was answered 503 while the database was away (%s)',
  (outage) => {
    it('is not done when the database is back: an emission', async () => {
      const before = await countEvents();
      const emitMany = async () => {
        const answers = await Promise.all([emit('again'), ...Array.from({ length: 30 }, () => emit())]);
        expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]));
      };
      const answeredMs = await lowest(1_500, async () => {
        proxy[outage]();
        const ms = await elapsedMs(emitMany);
        await recover();
        return ms;
      });
      expect(answeredMs).toBeLessThan(1_500);
      expect(api.logLines.filter((line) => line.includes('request failed'))).toEqual([]);
      expect(await countEvents()).toBe(before);
      const [first] = (await emit('again').expect(202)).body.data;
      const [second] = (await emit('again').expect(202)).body.data;
      expect([first.duplicate, second]).toEqual([false, { ...first, duplicate: true }]);
      expect(await countEvents()).toBe(before + 1);
    });

    it('is not done when the database is back: a transaction', async () => {
      const before = await countWebhooks();
      proxy[outage]();
      const answers = await Promise.all([
        ...Array.from({ length: 15 }, createWebhook),
        ...Array.from({ length: 5 }, () => createOrganization('given up')),
      ]);
      expect(api.logLines.filter((line) => line.includes('request failed'))).toEqual([]);
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]));
      await recover();
      expect(await countWebhooks()).toBe(before);
      expect(await direct.selectFrom('organizations').select('id').where('name', '=', 'given up').execute()).toEqual(
        [],
      );
    });
  },
);

it('a COMMIT that is held up until its request was answered 503 commits nothing', async () => {
  const before = await countWebhooks();
  const answeredMs = await lowest(1_000, async () => {
    proxy.freezeAt('commit');
    const ms = await elapsedMs(() => createWebhook().expect(503));
    await recover();
    return ms;
  });
  expect(answeredMs).toBeLessThan(1_000);
  expect(await countWebhooks()).toBe(before);
  await createWebhook().expect(201);
});
