import { createDatabase, type Database } from '@enterprise-api/shared/ledger';
import { elapsedMs, type FaultProxy, lowest, until } from '@enterprise-api/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { type ProxiedApi, startProxiedApi } from '../testing/proxied-api.ts';
import { startTestApi, type TestApi } from '../testing/test-api.ts';

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

const emit = (id: string) =>
  api
    .internal('post', '/internal/v1/events')
    .send({ organization_id, type: 'batch.failed', data: { batch_id: 'b' }, id });
const createWebhook = (idempotencyKey: string, { call } = api) =>
  call('post', '/v1/webhooks', key)
    .set('Idempotency-Key', idempotencyKey)
    .send({ url: 'https://example.com', events: ['*'] });

const countEvents = async () => (await direct.selectFrom('events').select('id').execute()).length;
const countWebhooks = async () => (await direct.selectFrom('webhooks').select('id').execute()).length;

/** Waits until everything that waited for the database has gone through. */
async function untilIdle(): Promise<void> {
  const isIdle = async () => {
    const { rows } = await sql`
      select from pg_stat_activity
      where datname = current_database() and application_name = 'enterprise-api' and state <> 'idle'`.execute(direct);
    return rows.length === 0;
  };
  await until('no statement runs', isIdle);
  // What waits in the pool gets a connection before these do.
  await Promise.all(ids(20).map(() => api.call('get', '/v1/webhooks', key).expect(200)));
  await until('no statement runs', isIdle);
}

const ids = (count: number) => Array.from({ length: count }, (_, n) => `id-${n}`);

describe.each(['freeze', 'cut'] as const)(
  'a write that was answered 503 while the database was away (%s)',
  (outage) => {
    it('has one effect when it is sent again with the same id: an emission', async () => {
      const before = await countEvents();
      const repeated = ids(31);
      const answeredMs = await lowest(1_500, async () => {
        proxy[outage]();
        const ms = await elapsedMs(async () => {
          const answers = await Promise.all(repeated.map((id) => emit(id)));
          expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]));
        });
        await proxied.recover();
        return ms;
      });
      expect(answeredMs).toBeLessThan(1_500);
      expect(api.logLines.filter((line) => line.includes('request failed'))).toEqual([]);
      for (let times = 0; times < 2; times++) await Promise.all(repeated.map((id) => emit(id).expect(202)));
      expect(await countEvents()).toBe(before + repeated.length);
    });

    it('never begins later, if it had not begun: a transaction', async () => {
      const before = await countWebhooks();
      proxy[outage]();
      const answers = await Promise.all(ids(20).map((id) => createWebhook(id)));
      expect(api.logLines.filter((line) => line.includes('request failed'))).toEqual([]);
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]));
      await proxied.recover();
      await untilIdle();
      expect(await countWebhooks()).toBe(before);
      for (let times = 0; times < 2; times++) await createWebhook('id-0').expect(201);
      expect(await countWebhooks()).toBe(before + 1);
    });
  },
);

it('a late COMMIT stores the answer: repeating the request meanwhile is 409, and afterwards the stored answer', async () => {
  await using other = new AsyncDisposableStack();
  const sound = await startTestApi({ database: { ...api.database, url: proxied.databaseUrl } });
  other.defer(() => sound.stop());
  let late = '';
  const answeredMs = await lowest(1_000, async (nth) => {
    late = `late-${nth}`;
    await proxied.recover();
    proxy.freezeAt('commit');
    return elapsedMs(() => createWebhook(late).expect(503));
  });
  expect(answeredMs).toBeLessThan(1_000);
  const meanwhile = await createWebhook(late, sound);
  expect([meanwhile.status, meanwhile.body.error?.code]).toEqual([409, 'idempotency_in_progress']);
  const before = await countWebhooks();
  proxy.restore();
  await until('the commit has arrived', async () => (await countWebhooks()) === before + 1);
  const afterwards = await createWebhook(late, sound).expect(201);
  expect(afterwards.headers['idempotent-replayed']).toBe('true');
  expect(await countWebhooks()).toBe(before + 1);
});
