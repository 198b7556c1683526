import { createDatabase, type Database, migrate } from '@enterprise-api/shared/ledger';
import {
  type ApiClient,
  type ApiCustomer,
  createApiClient,
  createApiCustomer,
  type FaultProxy,
  forStandbys,
  inParallel,
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
import { createReplicaReads } from '../../services/api/src/replica/replica-reads.ts';

const standbySettings = {
  // Each commit is replayed so much later: a list that did not wait for it would show less than was answered before.
  recovery_min_apply_delay: '20ms',
  // Replay waits for no statement that stands in its way.
  max_standby_streaming_delay: '0',
};

const resources = new AsyncDisposableStack();
let stage: Stage;
let standby: OwnPostgres;
let standbyDb: Database;
let proxy: FaultProxy;
/** Two processes of the API, and a customer of each: the same organization. */
let processes: ServiceProcess[];
let customers: ApiCustomer[];

beforeAll(async () => {
  const primary = resources.use(await startOwnPostgres({ settings: forStandbys }));
  stage = resources.use(await openStage({ redisUrl: undefined, databaseUrl: primary.url, pooled: false }));
  standby = resources.use(await startStandby(primary, standbySettings));
  proxy = resources.use(await startFaultProxy({ host: '127.0.0.1', port: Number(new URL(standby.url).port) }));
  standbyDb = standbyPool();
  resources.defer(() => standbyDb.destroy());
  const settings = { DATABASE_REPLICA_URL: throughProxy(standby.url, proxy) };
  processes = await Promise.all([stage.startApi(settings), stage.startApi(settings)]);
  const [first, second] = processes as [ServiceProcess, ServiceProcess];
  const customer = await createApiCustomer(first);
  customers = [customer, { ...customer, ...createApiClient(second, { key: customer.key }) }];
}, 120_000);
afterAll(async () => resources.disposeAsync());
beforeEach(async () => untilReplicaIsRead(), 120_000);

const standbyPool = () =>
  createDatabase({ url: standby.url, applicationName: 'test', poolSize: 2, onError: () => undefined });

const reads = (place: 'replica' | 'primary') => sumOf('api_history_reads_total', `place="${place}"`);
const fallbacks = (reason: string) => sumOf('api_replica_fallbacks_total', `reason="${reason}"`);

async function sumOf(metric: string, label: string): Promise<number> {
  const values = await Promise.all(processes.map(({ internalUrl }) => readMetric(internalUrl, metric, label)));
  return values.reduce((sum, value) => sum + value, 0);
}

/** Ids of what the newest page of a list shows. */
async function shown(client: ApiClient, path: string): Promise<string[]> {
  const { status, body } = await client.call('GET', `${path}?limit=100`);
  if (status !== 200) throw new Error(`${path} was answered with ${status}.`);
  return body.data.map(({ id }: { id: string }) => id);
}

/** Waits until both processes read from the replica. */
async function untilReplicaIsRead(): Promise<void> {
  for (const [index, { internalUrl }] of processes.entries()) {
    const count = () => readMetric(internalUrl, 'api_history_reads_total', 'place="replica"');
    const before = await count();
    const readsIt = async () => {
      await shown(customers[index] as ApiCustomer, '/v1/events');
      return (await count()) > before;
    };
    await until('lists are read from the replica', readsIt, { withinMs: 60_000, everyMs: 100 });
  }
}

async function emit(client: ApiCustomer): Promise<string> {
  const { status, body } = await client.emit([testEvent(client.organizationId)]);
  if (status !== 202) throw new Error(`The event was answered with ${status}.`);
  return body.data[0].id;
}

/** An event that one process accepts is in the list of the other, and of its own, at once. */
async function expectShownAtOnce(writer: ApiCustomer): Promise<void> {
  const id = await emit(writer);
  for (const reader of customers) expect(await shown(reader, '/v1/events')).toContain(id);
}

describe('lists that may be read from a replica', () => {
  it('come over a pool of their own, which the metrics of each process show', async () => {
    expect(await sumOf('database_pool_size', 'pool="replica"')).toBe(2 * 10);
    expect(await sumOf('database_pool_connections', 'pool="replica"')).toBeGreaterThan(0);
  });

  it('show what any process has answered before, under load, and come from the replica', async () => {
    const [before, lagging] = [await reads('replica'), await fallbacks('lagging')];
    const rounds = Array.from({ length: 30 }, (_, round) => round);
    const comeFromReplica = async () => {
      await inParallel(rounds, 3, (round) => expectShownAtOnce(customers[round % 2] as ApiCustomer));
      return (await reads('replica')) > before;
    };
    // Those that waited in vain, and the lists of the second after each, were read from the primary: all, where flushing is slow.
    await until('a list under load comes from the replica', comeFromReplica, { withinMs: 60_000 });
    expect(await fallbacks('lagging')).toBeGreaterThanOrEqual(lagging);
  }, 120_000);

  it('show changes of every kind: deliveries, entries of the audit log, and events in both orders', async () => {
    const [writer, reader] = customers as [ApiCustomer, ApiCustomer];
    const webhook = await writer.createWebhook('https://receiver.example/hook');
    const test = await writer.call('POST', `/v1/webhooks/${webhook.id}/test`);
    expect(test.status).toBe(202);
    expect(await shown(reader, '/v1/webhooks/deliveries')).toContain(test.body.id);
    const audit = await reader.internal('GET', `/internal/v1/audit?object_id=${webhook.id}`);
    expect(audit.body.data).toContainEqual(expect.objectContaining({ action: 'webhook.created' }));
    const id = await emit(writer);
    const follow = async (cursor = ''): Promise<string[]> => {
      const { body } = await reader.call('GET', `/v1/events?order=asc&limit=100${cursor}`);
      const ids = body.data.map((event: { id: string }) => event.id);
      return body.has_more ? [...ids, ...(await follow(`&cursor=${body.next_cursor}`))] : ids;
    };
    expect(await follow()).toContain(id);
    expect((await reader.call('GET', '/v1/usage')).status).toBe(200);
  });

  it('come from the replica through a pooler of transactions as well', async () => {
    await migrate(stage.databaseUrl, { roleTimeouts: true });
    await using pooler = await startPgBouncer(stage.databaseUrl);
    await using replicaPooler = await startPgBouncer(standby.url);
    await using api = await stage.startApi({
      DATABASE_URL: pooler.url,
      DATABASE_DIRECT_URL: stage.databaseUrl,
      DATABASE_PREPARED_STATEMENTS: 'false',
      DATABASE_REPLICA_URL: replicaPooler.url,
    });
    const [writer] = customers as [ApiCustomer];
    const reader = createApiClient(api, { key: writer.key });
    const expectShown = async () => {
      const id = await emit(writer);
      expect(await shown(reader, '/v1/events')).toContain(id);
    };
    await expectShown();
    // Without writes between: where flushing is slow, a list just after one waits in vain for the replica.
    const isReplicaRead = async () => {
      await shown(reader, '/v1/events');
      return readMetric(api.internalUrl, 'api_history_reads_total', 'place="replica"');
    };
    await until('a list from the replica', isReplicaRead, { withinMs: 60_000, everyMs: 100 });
    await expectShown();
  }, 120_000);

  it('fall back where replay cancels the statement, and where the replica follows another history', async () => {
    await using pool = { db: standbyPool(), [Symbol.asyncDispose]: () => pool.db.destroy() };
    const readFrom = createReplicaReads({ replica: pool.db, withReplicaCheck: (work) => work(() => true) });
    await sql`create table dropped_soon as select 1`.execute(stage.db);
    await until('the table is replicated', () => sql`select from dropped_soon`.execute(standbyDb));
    const reading = readFrom({ timeline: 1, lsn: 0n }, (db) => sql`select from dropped_soon, pg_sleep(25)`.execute(db));
    const sleeping = async () => {
      const { rows } = await sql`select from pg_stat_activity where wait_event = 'PgSleep'`.execute(standbyDb);
      return rows.length > 0;
    };
    await until('the statement is under way', sleeping);
    await sql`drop table dropped_soon`.execute(stage.db);
    expect(await reading).toMatchObject({ kind: 'fallback', reason: 'conflict' });
    const ofNobody = await readFrom({ timeline: 2, lsn: 0n }, async () => 'read');
    expect(ofNobody).toEqual({ kind: 'fallback', reason: 'other_timeline' });
  });

  it('come from the primary while replay is paused, and from the replica once it goes on', async () => {
    const before = await fallbacks('lagging');
    await sql`select pg_wal_replay_pause()`.execute(standbyDb);
    try {
      for (const writer of customers) await expectShownAtOnce(writer);
      expect(await fallbacks('lagging')).toBeGreaterThan(before);
    } finally {
      await sql`select pg_wal_replay_resume()`.execute(standbyDb);
    }
    await untilReplicaIsRead();
  });

  it('are answered while the replica hangs, and processes stay ready', async () => {
    const before = await fallbacks('unavailable');
    proxy.freeze();
    try {
      for (const writer of customers) await expectShownAtOnce(writer);
      expect(await fallbacks('unavailable')).toBeGreaterThan(before);
      await Promise.all(processes.map((api) => api.ready()));
    } finally {
      proxy.restore();
    }
    await untilReplicaIsRead();
  });

  it('are answered when the replica is killed, and come from it again when it is back', async () => {
    const before = await fallbacks('unavailable');
    await standby.crash();
    for (const writer of customers) await expectShownAtOnce(writer);
    expect(await fallbacks('unavailable')).toBeGreaterThan(before);
    await standby.start();
    await untilReplicaIsRead();
  });

  it('come from the primary for good when the replica has become a primary of its own', async () => {
    const [before, fromReplica] = [await fallbacks('promoted'), await reads('replica')];
    await sql`select pg_promote()`.execute(standbyDb);
    for (const writer of customers) await expectShownAtOnce(writer);
    expect(await fallbacks('promoted')).toBeGreaterThan(before);
    expect(await reads('replica')).toBe(fromReplica);
  });
});
