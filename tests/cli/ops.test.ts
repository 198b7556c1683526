import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AuditEntry, Delivery, Erasure, InspectedWebhook, Sending, Stats } from '@enterprise-api/shared/contracts';
import { createJobProducer, selectQueueBackend } from '@enterprise-api/shared/queue';
import { fromPublicId, newUuid, toPublicId } from '@enterprise-api/shared/runtime';
import {
  type GuardedProcess,
  sendRequest,
  testEvent,
  testInternalSecret,
  testKeyRing,
  until,
  untilLockWait,
} from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { type CliStage, openCliStage } from './stage.ts';

let stage: CliStage;
beforeAll(async () => {
  stage = await openCliStage({ INTERNAL_QUEUE_BOARD: 'true' });
});
afterAll(async () => await stage[Symbol.asyncDispose]());

const ops = (...args: string[]) => stage.cli.run(['ops', ...args]);
const json = <Result>(...args: string[]) => stage.cli.json<Result>(['ops', ...args]);

describe('enterprise-api ops', () => {
  it('pauses and resumes sending, of all and of one organization, and the statistics tell', async () => {
    const { organizationId } = stage.customer;
    expect(await json<Sending>('pause', '--actor', 'on-call')).toMatchObject({ paused: true, organization_id: null });
    const one = await json<Sending>('pause', '--organization', organizationId);
    expect(one).toMatchObject({ paused: true, organization_id: organizationId });
    expect((await json<Stats>('stats')).sending).toMatchObject({
      paused: true,
      organizations: [{ organization_id: organizationId, since: one.since }],
    });
    const shown = await ops('stats');
    expect(shown.stdout).toMatch(/sending\s+paused since/);
    expect(shown.stdout).toContain(organizationId);
    expect(await json<Sending>('resume')).toEqual({ paused: false, organization_id: null, since: null });
    expect((await ops('resume', '--organization', organizationId)).stdout).toMatch(/sending\s+running/);
    expect((await ops('pause', '--organization', 'org_01jd6kz5r8e2v9qxm3c7t4b0na')).code).toBe(5);
  });

  it('shows a webhook and a delivery by their ids alone', async () => {
    const webhook = await stage.customer.createWebhook('https://hooks.example.com/in');
    const found = await json<InspectedWebhook>('webhook', webhook.id);
    expect(found).toMatchObject({ organization_id: stage.customer.organizationId, webhook: { id: webhook.id } });
    expect((await ops('webhook', webhook.id)).stdout).toMatch(/circuit\s+closed/);
    expect(JSON.stringify(found)).not.toContain(webhook.secret);
    const test = await stage.customer.call('POST', `/v1/webhooks/${webhook.id}/test`);
    expect((await ops('webhook', webhook.id)).stdout).toMatch(/pending\s+1\n.*\n\s*it waits for\s+capacity/);
    expect(await ops('delivery', test.body.id)).toMatchObject({ code: 2, stderr: expect.stringContaining('--actor') });
    const shown = await ops('delivery', test.body.id, '--actor', 'on-call');
    expect(shown.stdout).toContain(stage.customer.organizationId);
    expect(shown.stdout).toMatch(/status\s+pending/);
    expect((await ops('delivery', toPublicId('dlv', newUuid()), '--actor', 'on-call')).code).toBe(5);
    const [read] = await stage.cli.json<AuditEntry[]>(['audit', '--object', test.body.event_id]);
    expect(read).toMatchObject({ action: 'event.read', on_behalf_of: 'on-call' });
    const uuid = fromPublicId('whk', webhook.id) as string;
    expect(await json<InspectedWebhook>('webhook', uuid)).toMatchObject({ webhook: { id: webhook.id } });
    expect((await ops('id', uuid)).stdout).toContain(webhook.id);
    expect((await ops('id', webhook.id)).stdout).toContain(uuid);
  });

  it('warns of workers whose delivery settings differ from the API', async () => {
    const report = (policy: object) =>
      sql`insert into worker_policies (worker_id, policy) values (gen_random_uuid(), ${JSON.stringify(policy)})`.execute(
        stage.stage.db,
      );
    const own = await stage.customer.call('GET', '/v1/webhooks/delivery-policy');
    await report(own.body);
    expect((await ops('stats')).stderr).not.toContain('settings');
    await report({ ...own.body, timeout_ms: 1 });
    expect(await ops('stats')).toMatchObject({
      stdout: expect.stringMatching(/delivery settings\s+1 of 2 workers differ/),
      stderr: expect.stringContaining('timeout_ms'),
    });
  });

  it('shows the locks, the statements and the sizes of the database', async () => {
    expect((await json<{ sessions: unknown[] }>('locks')).sessions).toBeInstanceOf(Array);
    expect((await ops('locks')).stdout).toMatch(/sessions\s+\d/);
    const statements = await ops('statements');
    expect(statements.stdout).toMatch(/enterprise-api\s+idle\s+\d/);
    expect(statements.stderr).toContain('pg_stat_statements');
    expect((await ops('sizes')).stdout).toMatch(/deliveries\s+\d+\.\d [KM]iB/);
  });

  it('sends a failed delivery again, and replays those of a webhook, on behalf of somebody', async () => {
    const { db } = stage.stage;
    const webhook = await stage.customer.createWebhook('https://hooks.example.com/failing');
    const { body: test } = await stage.customer.call('POST', `/v1/webhooks/${webhook.id}/test`);
    const fail = async () => {
      const id = fromPublicId('dlv', test.id) as string;
      await db.deleteFrom('pending_deliveries').where('delivery_id', '=', id).execute();
      await db
        .updateTable('deliveries')
        // A replay leaves tests out.
        .set({ status: 'failed', completed_at: new Date(), test: false })
        .where('id', '=', id)
        .execute();
    };
    expect((await ops('retry', test.id)).code).toBe(7);
    await fail();
    expect(await json<Delivery>('retry', test.id, '--actor', 'on-call')).toMatchObject({ status: 'pending' });
    await fail();
    expect((await ops('replay', webhook.id, '--since', '1h')).stdout).toContain('1 are sent again');
    expect(await ops('replay', webhook.id)).toMatchObject({ code: 2, stderr: expect.stringContaining('--since') });
    const entries = await stage.cli.json<AuditEntry[]>(['audit', '--object', webhook.id]);
    expect(entries.map(({ action }) => action)).toContain('webhook.replayed');
  });

  it('disables a webhook and enables it again', async () => {
    const webhook = await stage.customer.createWebhook('https://hooks.example.com/to-be-disabled');
    const disabled = await json<InspectedWebhook>('disable', webhook.id);
    expect(disabled.webhook).toMatchObject({ enabled: false, disabled_reason: 'manual' });
    expect((await ops('enable', webhook.id, '--actor', 'on-call')).stdout).toMatch(/state\s+enabled/);
    expect((await ops('disable', toPublicId('whk', newUuid()))).code).toBe(5);
  });

  it('lets workers have failed jobs again, and says of which queue', async () => {
    const env = { DATABASE_URL: stage.stage.databaseUrl };
    const retried = await stage.cli.run(['ops', 'retry-jobs'], { env });
    const said = 'event-writes in PostgreSQL (no REDIS_URL): 0 failed jobs are waiting for a worker again.\n';
    expect(retried).toMatchObject({ code: 0, stdout: said });
  });

  it('shows the statistics without a part that does not answer in time', async () => {
    const shown = await stage.stage.db.transaction().execute(async (trx) => {
      await sql`lock table webhook_health in access exclusive mode`.execute(trx);
      return ops('stats');
    });
    expect(shown.code).toBe(0);
    expect(shown.stdout).toMatch(/webhooks\s+did not answer in time/);
  });

  it('shows the sizes without a part that does not answer in time, and how to end the session that locks it', async () => {
    const { db } = stage.stage;
    const { locks, sizes, waiting } = await db.transaction().execute(async (trx) => {
      await sql`lock table parked_events in access exclusive mode`.execute(trx);
      const waiting = Promise.allSettled([sql`select from parked_events`.execute(db)]);
      await untilLockWait(db);
      return { locks: await ops('locks'), sizes: await ops('sizes'), waiting };
    });
    expect(sizes).toMatchObject({ code: 0, stderr: expect.stringContaining('Parked events: did not answer in time.') });
    expect(sizes.stdout).toContain('Overdue deliveries');
    expect(locks.stderr).toContain(`psql "$DATABASE_URL" -c 'select pg_terminate_backend(<PID>)'`);
    await waiting;
  });

  it('runs retention and re-encryption where the services are installed, with the settings of the environment', async () => {
    const env = { DATABASE_URL: stage.stage.databaseUrl, SECRETS_ENCRYPTION_KEYS: testKeyRing };
    const dry = await stage.cli.run(['ops', 'retention', '--dry-run'], { env });
    expect([dry.code, dry.stderr]).toEqual([0, '']);
    expect(dry.stdout).toMatch(/\S/);
    const reencrypted = await stage.cli.run(['ops', 're-encrypt'], { env });
    expect([reencrypted.code, reencrypted.stdout]).toEqual([0, expect.stringContaining('0 unreadable')]);
    expect(await ops('retention', '--dry-run')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('DATABASE_URL is not set'),
    });
    const elsewhere = await stage.cli.run(['ops', 'retention', '--dry-run', '--services', '/nowhere'], { env });
    expect(elsewhere).toMatchObject({ code: 2, stderr: expect.stringContaining('--services') });
  });
});

describe('enterprise-api ops with settings that are not those of production', () => {
  const periods = { RETENTION_BODIES: '0', RETENTION_HISTORY: '0', RETENTION_AUDIT: '0' };

  it.each(Object.keys(periods))('removes nothing while %s is not set', async (name) => {
    const env: Record<string, string> = { DATABASE_URL: stage.stage.databaseUrl, ...periods, [name]: '' };
    const refused = await stage.cli.run(['ops', 'retention'], { env });
    expect(refused).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(`Not set: ${name}.`) });
  });

  it('removes what is past the times that are named', async () => {
    const env = { DATABASE_URL: stage.stage.databaseUrl, ...periods };
    const done = await stage.cli.run(['ops', 'retention'], { env });
    expect([done.code, done.stdout]).toEqual([0, expect.stringContaining('Done.')]);
  });

  it('encrypts nothing under a key that no service uses', async () => {
    await stage.customer.createWebhook('https://hooks.example.com/of-production');
    const own = `laptop:${randomBytes(32).toString('base64')}`;
    const env = { DATABASE_URL: stage.stage.databaseUrl, SECRETS_ENCRYPTION_KEYS: `${own},${testKeyRing}` };
    const refused = await stage.cli.run(['ops', 're-encrypt'], { env });
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('first key, laptop') });
  });

  it('reads a file that a setting names from where the operator is', async () => {
    writeFileSync(join(stage.cli.configFolder, 'database-url'), stage.stage.databaseUrl);
    const env = { DATABASE_URL_FILE: 'database-url', SECRETS_ENCRYPTION_KEYS: testKeyRing };
    const command = await stage.cli.start(['ops', 're-encrypt'], { env });
    const { code } = await command.exited;
    expect({ code, output: command.lines.join('\n') }).toEqual({ code: 0, output: expect.stringContaining('0 left') });
  });
});

describe('enterprise-api ops erase', () => {
  it('reads the subject from standard input, shows no subject, and its export is applied with the services stopped', async () => {
    const { organizationId } = stage.customer;
    const subject = 'con_of ada';
    await stage.customer.emit([testEvent(organizationId, { data: { consultation_id: subject } })]);
    const erase = (...args: string[]) => ['ops', 'erase', organizationId, ...args];
    const dry = await stage.cli.json<Erasure>(erase('--subject', '--dry-run'), { input: `${subject}\n` });
    expect(dry).toMatchObject({ id: null, counts: { events: 1 } });
    const erasure = await stage.cli.json<Erasure>(erase('--subject', '--reason', 'T-1'), { input: subject });
    const shown = await ops('erasures', 'show', erasure.id ?? '');
    expect(shown.stdout).toMatch(/state\s+running/);
    const listed = await ops('erasures', 'list', '--running');
    const exported = await ops('erasures', 'export');
    expect([shown, listed, exported].map(({ stdout }) => stdout).join()).not.toContain('ada');
    const file = join(stage.cli.configFolder, 'erasures.jsonl');
    writeFileSync(file, exported.stdout);
    const env = { DATABASE_URL: stage.stage.databaseUrl };
    const applied = await stage.cli.run(['ops', 'erasures', 'apply', file], { env });
    expect(applied).toMatchObject({ code: 0, stdout: expect.stringContaining('1 events erased') });
    const events = await stage.customer.call('GET', '/v1/events');
    expect(events.body.data).toContainEqual(expect.objectContaining({ data: null, erased_at: expect.any(String) }));
  });

  it('erases nothing without exactly one selection, or without consent', async () => {
    const { organizationId } = stage.customer;
    expect(await ops('erase', organizationId)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('exactly one'),
    });
    expect(await ops('erase', organizationId, '--all')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Nothing was erased'),
    });
  });
});

describe('enterprise-api ops board', () => {
  let board: GuardedProcess;
  let url: string;
  beforeAll(async () => {
    const queue = selectQueueBackend({ redisUrl: undefined, databaseUrl: stage.stage.databaseUrl });
    const producer = createJobProducer(queue, 'fanOut', () => undefined);
    await producer.add({ version: 1, event_ids: [newUuid()] });
    await producer.close();
    board = await stage.cli.start(['ops', 'board']);
    const line = await until('its address', () => board.lines.find((each) => each.startsWith('http://')), {
      withinMs: 60_000,
    });
    url = line ?? '';
  });
  afterAll(async () => {
    board.kill('SIGINT');
    await board.exited;
  });

  const read = (more = '', headers: Record<string, string> = {}, method = 'GET') =>
    sendRequest({ method, url: `${url}${more}`, headers });

  it('shows the jobs of each queue, without a script and without the secret', async () => {
    const page = await read();
    expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.text).toContain('event-writes');
    const policy = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
    expect(page.headers['content-security-policy']).toBe(policy);
    expect(page.text).not.toContain('<script');
    expect(page.text).not.toContain(testInternalSecret);
    const jobs = await read('?queue=events&state=waiting');
    expect(jobs.text).toMatch(/evt_[0-9a-z]{26}/);
    expect((await read('board.css')).headers['content-type']).toBe('text/css; charset=utf-8');
  });

  it('refuses other names, other sites, other methods, and whoever does not know its path', async () => {
    const { host, origin } = new URL(url);
    expect((await read('', { host: `rebound.example.com:${host.split(':')[1]}` })).status).toBe(421);
    expect((await read('', { host: host.replace('127.0.0.1', 'localhost') })).status).toBe(421);
    expect((await read('', { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect((await read('', { 'sec-fetch-site': 'same-site' })).status).toBe(403);
    expect((await read('', {}, 'POST')).status).toBe(405);
    expect((await sendRequest({ method: 'GET', url: `${origin}/` })).status).toBe(404);
    expect((await sendRequest({ method: 'GET', url: `${origin}/internal/v1/stats` })).status).toBe(404);
  });

  it('does not open while the API keeps it closed', async () => {
    const closed = await stage.stage.startApi();
    const env = { ENTERPRISE_API_INTERNAL_URL: closed.internalUrl };
    const refused = await stage.cli.run(['ops', 'board'], { env });
    expect(refused).toMatchObject({ code: 5, stderr: expect.stringContaining('INTERNAL_QUEUE_BOARD') });
    await closed.stop();
  });
});
