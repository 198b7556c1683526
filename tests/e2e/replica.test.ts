import { createDatabase, type Database, migrate } from '@enterprise-api/shared/ledger';
import {
  type ApiClient,
  type ApiCustomer,
  createApiClient,
  createApiCustomer,
  type FaultProxy,
  forStandbys,
  type OwnPostgres,
  openStage,
  readMetric,
  type ServiceProcess,
  type Stage,
  startFaultProxy,
  startOwnPostgres,
  startPgBouncer,
  startStandby,
  testEvent,
  throughProxy,
  until,
} from '@enterprise-api/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';

const resources = new AsyncDisposableStack();
let stage: Stage;
let standby: OwnPostgres;
let standbyDb: Database;
let proxy: FaultProxy;
let api: ServiceProcess;
let customer: ApiCustomer;

beforeAll(async () => {
  const primary = resources.use(await startOwnPostgres({ settings: forStandbys }));
  stage = resources.use(await openStage({ redisUrl: undefined, databaseUrl: primary.url, pooled: false }));
  standby = resources.use(await startStandby(primary));
  proxy = resources.use(await startFaultProxy({ host: '127.0.0.1', port: Number(new URL(standby.url).port) }));
  standbyDb = createDatabase({ url: standby.url, applicationName: 'test', poolSize: 2, onError: () => undefined });
  resources.defer(() => standbyDb.destroy());
  api = await stage.startApi({ DATABASE_REPLICA_URL: throughProxy(standby.url, proxy) });
  customer = await createApiCustomer(api);
}, 120_000);
afterAll(async () => resources.disposeAsync());
beforeEach(async () => untilReplicaIsRead(api, customer), 120_000);

const readsOf = (process: ServiceProcess, place: 'replica' | 'primary') =>
  readMetric(process.internalUrl, 'api_history_reads_total', `place="${place}"`);

/** Ids of the newest page of a list. */
async function shown(client: ApiClient, path: string): Promise<string[]> {
  const { status, body } = await client.call('GET', path);
  if (status !== 200) throw new Error(`${path} was answered with ${status}.`);
  return body.data.map(({ id }: { id: string }) => id);
}

async function untilReplicaIsRead(process: ServiceProcess, client: ApiClient): Promise<void> {
  const before = await readsOf(process, 'replica');
  const isRead = async () => {
    await shown(client, '/v1/events');
    return (await readsOf(process, 'replica')) > before;
  };
  await until('lists are read from the replica', isRead, { withinMs: 60_000, everyMs: 100 });
}

async function emit(): Promise<string> {
  const { status, body } = await customer.emit([testEvent(customer.organizationId)]);
  if (status !== 202) throw new Error(`The event was answered with ${status}.`);
  return body.data[0].id;
}

/**
 * Emits an event and lists events until the list shows it: every list that is asked for two seconds after the answer does.
 * A starved machine gets ten times its slowest list more.
 */
async function expectShownInTime(client: ApiClient = customer): Promise<void> {
  const id = await emit();
  const acceptedAtMs = performance.now();
  let [missingAtMs, slowestMs] = [0, 0];
  await until(`the list shows ${id}`, async () => {
    const askedMs = performance.now() - acceptedAtMs;
    const isShown = (await shown(client, '/v1/events')).includes(id);
    if (!isShown) missingAtMs = askedMs;
    slowestMs = Math.max(slowestMs, performance.now() - acceptedAtMs - askedMs);
    return isShown;
  });
  expect(missingAtMs).toBeLessThan(2_000 + 10 * slowestMs);
}

describe('history lists with a replica', () => {
  it('come over a pool of their own, which the metrics show', async () => {
    expect(await readMetric(api.internalUrl, 'database_pool_size', 'pool="replica"')).toBe(10);
  });

  it('come from the replica, for events, deliveries, the audit log and usage, and oldest first from the primary', async () => {
    const webhook = await customer.createWebhook('https://receiver.example/hook');
    await emit();
    const lists: [string, () => Promise<{ status: number }>][] = [
      ['replica', () => customer.call('GET', '/v1/events')],
      ['replica', () => customer.call('GET', '/v1/webhooks/deliveries')],
      ['replica', () => customer.internal('GET', `/internal/v1/audit?object_id=${webhook.id}`)],
      ['replica', () => customer.call('GET', '/v1/usage')],
      ['none', () => customer.call('GET', '/v1/events?order=asc')],
      ['none', () => customer.call('GET', '/v1/webhooks/deliveries?order=asc')],
    ];
    for (const [place, list] of lists) {
      const isReadThere = async () => {
        const before = [await readsOf(api, 'replica'), await readsOf(api, 'primary')];
        expect((await list()).status).toBe(200);
        const after = [await readsOf(api, 'replica'), await readsOf(api, 'primary')];
        if (place === 'none') return String(after) === String(before);
        return Number(after[0]) > Number(before[0]);
      };
      await until(`a list is read from the ${place}`, isReadThere);
    }
  });

  it('are at most two seconds behind while replay is paused; oldest first they show an event at once', async () => {
    await sql`select pg_wal_replay_pause()`.execute(standbyDb);
    try {
      const isPaused = async () => {
        const { rows } = await sql<{ state: string }>`select pg_get_wal_replay_pause_state() as state`.execute(
          standbyDb,
        );
        return rows[0]?.state === 'paused';
      };
      await until('replay is paused', isPaused);
      const atOnce = await emit();
      expect(await shown(customer, '/v1/events?order=asc&limit=100')).toContain(atOnce);
      await expectShownInTime();
    } finally {
      await sql`select pg_wal_replay_resume()`.execute(standbyDb);
    }
    await untilReplicaIsRead(api, customer);
  });

  it('come from the replica through a pooler of transactions as well', async () => {
    await migrate(stage.databaseUrl, { roleTimeouts: true });
    await using pooler = await startPgBouncer(stage.databaseUrl);
    await using replicaPooler = await startPgBouncer(standby.url);
    await using pooled = await stage.startApi({
      DATABASE_URL: pooler.url,
      DATABASE_DIRECT_URL: stage.databaseUrl,
      DATABASE_PREPARED_STATEMENTS: 'false',
      DATABASE_REPLICA_URL: replicaPooler.url,
    });
    const reader = createApiClient(pooled, { key: customer.key });
    await untilReplicaIsRead(pooled, reader);
    await expectShownInTime(reader);
  }, 120_000);

  it('are answered while the replica hangs, and the process stays ready', async () => {
    const before = await readsOf(api, 'primary');
    proxy.freeze();
    try {
      await expectShownInTime();
      expect(await readsOf(api, 'primary')).toBeGreaterThan(before);
      await api.ready();
    } finally {
      proxy.restore();
    }
    await untilReplicaIsRead(api, customer);
  }, 120_000);

  it('are answered when the replica is killed, and come from it again when it is back', async () => {
    await standby.crash();
    await expectShownInTime();
    await standby.start();
    await untilReplicaIsRead(api, customer);
  }, 120_000);

  it('come from the primary for good when the replica has become a primary of its own', async () => {
    await sql`select pg_promote()`.execute(standbyDb);
    await expectShownInTime();
    const before = await readsOf(api, 'replica');
    for (let round = 0; round < 3; round++) await expectShownInTime();
    expect(await readsOf(api, 'replica')).toBe(before);
  });
});
