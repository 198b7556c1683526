import {
  createApiClient,
  createTestDatabase,
  openStage,
  projectFolder,
  type Receiver,
  type ServiceName,
  type ServiceProcess,
  type Stage,
  spawnGuarded,
  startPgBouncer,
  startService,
  testEvent,
  testInternalSecret,
  testKeyRing,
  until,
} from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { Client } from 'pg';

/** How PgBouncer marks the sessions that it opens. */
const pooledName = / - 127\.0\.0\.1:\d+$/;

async function withClients<Answer>(url: string, count: number, use: (clients: Client[]) => Promise<Answer>) {
  const clients = Array.from({ length: count }, () => new Client({ connectionString: url }));
  await Promise.all(clients.map((client) => client.connect()));
  try {
    return await use(clients);
  } finally {
    await Promise.all(clients.map((client) => client.end()));
  }
}

describe('both processes behind a pooler of transactions, the queue in PostgreSQL', () => {
  let stage: Stage;
  let receiver: Receiver;
  let api: ServiceProcess;
  beforeAll(async () => {
    stage = await openStage({ redisUrl: undefined, pooled: true });
    receiver = await stage.startReceiver();
    [api] = await Promise.all([stage.startApi(), stage.startWorker()]);
  });
  afterAll(async () => stage[Symbol.asyncDispose]());

  const sessions = async () => {
    const { rows } = await sql<{ name: string; query: string }>`select application_name as name, query
      from pg_stat_activity where datname = current_database() and application_name like 'enterprise-api%'`.execute(
      stage.db,
    );
    return rows;
  };

  it('deliver what is emitted, and leave nothing of theirs in the sessions of the pooler', async () => {
    const { organizationId } = await stage.subscribe({ url: receiver.url('/hook') });
    const client = createApiClient({ url: api.url, internalUrl: api.internalUrl });
    const count = 200;
    for (let sent = 0; sent < count; sent += 20) {
      const { status } = await client.emit(Array.from({ length: 20 }, () => testEvent(organizationId)));
      expect(status).toBe(202);
    }
    await until(
      'every delivery',
      async () => {
        const done = stage.db.selectFrom('deliveries').select('id').where('organization_id', '=', organizationId);
        return (await done.where('status', '=', 'succeeded').execute()).length === count;
      },
      { withinMs: 30_000 },
    );
    expect((await sessions()).filter(({ name }) => pooledName.test(name)).length).toBeGreaterThan(0);

    // Each in a transaction of its own, so that the pooler gives each another session; it has had these for the services.
    const found = await withClients(stage.poolerUrl ?? '', 8, async (clients) => {
      await Promise.all(clients.map((each) => each.query('begin')));
      const answers = await Promise.all(
        clients.map((each) =>
          each.query(`select name, setting, source from pg_settings
            where name in ('enable_seqscan', 'enable_bitmapscan', 'statement_timeout', 'lock_timeout') order by name`),
        ),
      );
      const prepared = await Promise.all(clients.map((each) => each.query('select name from pg_prepared_statements')));
      await Promise.all(clients.map((each) => each.query('commit')));
      return { settings: answers.map(({ rows }) => rows), prepared: prepared.flatMap(({ rows }) => rows) };
    });
    for (const rows of found.settings) {
      expect(rows).toEqual([
        { name: 'enable_bitmapscan', setting: 'on', source: 'default' },
        { name: 'enable_seqscan', setting: 'on', source: 'default' },
        { name: 'lock_timeout', setting: '5000', source: 'database user' },
        { name: 'statement_timeout', setting: '30000', source: 'database user' },
      ]);
    }
    expect(found.prepared).toEqual([]);
  });

  it('listen, and keep their queue, on sessions of their own', async () => {
    const listening = await until('sessions that listen', sessions, {
      holds: (rows) => rows.filter(({ query }) => /^listen/i.test(query)).length >= 2,
    });
    const own = listening.filter(({ query, name }) => /^listen/i.test(query) || name.includes('queue'));
    expect(own.filter(({ name }) => pooledName.test(name))).toEqual([]);
  });

  it('do what requests with one Idempotency-Key ask for once, also at the same time', async () => {
    const owner = createApiClient(api);
    const organization = await owner.createOrganization();
    const { secret: key } = await owner.createKey(organization.id);
    const client = createApiClient(api, { key });
    const body = { url: receiver.url('/hook'), events: ['*'] };
    const create = () => client.call('POST', '/v1/webhooks', body, { 'Idempotency-Key': 'the-same' });
    const answers = await Promise.all(Array.from({ length: 8 }, create));
    const created = answers.filter(({ status }) => status === 201);
    // The others came while the first was under way.
    expect(answers.filter(({ status }) => status === 409).length).toBe(answers.length - created.length);
    const again = await create();
    expect(new Set([again, ...created].map(({ body: answer }) => answer.id)).size).toBe(1);
    expect((await client.call('GET', '/v1/webhooks')).body.data).toHaveLength(1);
  });
});

describe('behind a pooler whose role has no timeouts', () => {
  it('neither process starts, and both say that make migrate sets them, which it does', async () => {
    await using database = await createTestDatabase();
    const settings = {
      SECRETS_ENCRYPTION_KEYS: testKeyRing,
      INTERNAL_API_SECRET: testInternalSecret,
      DATABASE_DIRECT_URL: database.url,
      DATABASE_PREPARED_STATEMENTS: 'false',
    };
    {
      await using pooler = await startPgBouncer(database.url);
      const env = { ...settings, DATABASE_URL: pooler.url };
      const refuse = async (name: ServiceName) => {
        const refused = await startService(name, env, { waitUntilReady: false });
        return [(await refused.exited).code, refused.lines.join('\n')];
      };
      const refusal = [1, expect.stringMatching(/lock_timeout, statement_timeout.* unlimited.*make migrate/)];
      expect(await Promise.all([refuse('api'), refuse('webhook-worker')])).toEqual([refusal, refusal]);

      const command = ['packages/shared/src/ledger/migrate-main.ts'];
      const migration = await spawnGuarded(process.execPath, command, { cwd: projectFolder, env });
      expect((await migration.exited).code).toBe(0);
    }
    // Sessions of a pooler keep what their role had when they began: another pooler, other sessions.
    await using pooler = await startPgBouncer(database.url);
    await using service = await startService('webhook-worker', { ...settings, DATABASE_URL: pooler.url });
    expect((await service.stop()).code).toBe(0);
  });
});
