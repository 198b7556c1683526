import { randomBytes } from 'node:crypto';
import { verifyWebhook } from '@enterprise-api/sdk/webhooks';
import type { ExplainedWebhook } from '@enterprise-api/shared/contracts';
import { createDatabase } from '@enterprise-api/shared/ledger';
import { fromPublicId, newUuid, toPublicId } from '@enterprise-api/shared/runtime';
import {
  type ApiClient,
  auditLedger,
  createApiClient,
  openStage,
  queueBackends,
  type ReceivedRequest,
  type Receiver,
  type Stage,
  until,
} from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { Client } from 'pg';
import { createOldLedger, migrateTo, producerStatements } from './old-ledger.ts';

const organization = 'org_01m86tw1zae4ht4sy8vxr3c1db';
const pausedOrganization = 'org_01m86tw2fcfp7btt18dwc3f3h8';
const key = 'nwk_bWpQbdLEebRID6RHhbOFO2cS7wWfn5iCLYD1F43D4WeiAc';
/** The secrets of the webhooks that are enabled, by the path of their URLs. */
const secrets: Record<string, string> = {
  '/hook': 'whsec_LTxq+/wSZ//SydsgpE3R4Qrb06d5GQccqNwfxBP+QHc=',
  '/flaky': 'whsec_hFhcfmS3qk4qhALM/1g9HuvnIvj3jfQyEjmsp0ynxOk=',
  '/paused': 'whsec_MnFtn55FllPWvp9tLpEdD/pk+6r5XDG4AQCb333q66g=',
};
/** The ledger is of a fixed day, and keeps everything. */
const settings = { RETENTION_BODIES: '0', RETENTION_HISTORY: '0', RETENTION_AUDIT: '0' };

describe.each(queueBackends())('a ledger and a queue of 1.0.0, queue on $name', (backend) => {
  const resources = new AsyncDisposableStack();
  let stage: Stage;
  let receiver: Receiver;
  let client: ApiClient;
  let apiUrl: string;
  /** The bodies of all events, as 1.0.0 wrote them. */
  let bodies: string[];

  beforeAll(async () => {
    const { redisUrl, close } = await backend.start();
    resources.defer(close);
    const database = resources.use(await createOldLedger(redisUrl));
    stage = resources.use(await openStage({ redisUrl, databaseUrl: database.url, settings }));
    bodies = (await stage.db.selectFrom('event_bodies').select('body').execute()).map(({ body }) => body);
    receiver = await stage.startReceiver();
    const origin = new URL(receiver.url()).origin;
    await sql`update webhooks set url = replace(url, 'https://receiver.example', ${origin})`.execute(stage.db);
    const [api] = await Promise.all([stage.startApi(), stage.startWorker()]);
    apiUrl = api.url;
    client = createApiClient(api, { key });
  });
  afterAll(() => resources.disposeAsync());

  const get = async (path: string) => (await client.call('GET', path)).body;
  const received = () => receiver.requests.map((request) => `${request.path} ${nameOf(request)}`).toSorted();
  const untilReceived = (name: string) =>
    until(`the delivery ${name}`, received, { holds: (names) => names.includes(name), withinMs: 90_000 });

  it('keeps its webhooks, events and deliveries, usage, the audit log and a key', async () => {
    const webhooks = (await get('/v1/webhooks')).data as { disabled_reason: string | null }[];
    expect(webhooks.map(({ disabled_reason }) => disabled_reason).toSorted()).toEqual(['gone', 'manual', null, null]);
    const events = bodies.map((body) => JSON.parse(body)).filter((event) => event.organization_id === organization);
    for (const { id, data } of events.filter((event) => event.test === undefined))
      expect(await get(`/v1/events/${id}`)).toMatchObject({ id, data });
    const deleted = (await get('/v1/webhooks/deliveries?webhook_id=whk_01m86tw2s8ep0sj0gcrv6zgkze')).data;
    expect(deleted).toMatchObject([{ status: 'succeeded', attempt_count: 1 }]);
    const [retried] = (await get('/v1/webhooks/deliveries?status=succeeded&event_type=batch.partial_failure')).data;
    expect((await get(`/v1/webhooks/deliveries/${retried.id}`)).attempts).toMatchObject([
      { number: 2, status_code: 200, trigger: 'manual' },
      { number: 1, status_code: 200, trigger: 'scheduled' },
    ]);
    const usage = await get('/v1/usage?granularity=hour&since=2026-11-24T12:00:00Z&until=2026-11-24T13:00:00Z');
    expect(usage.totals).toMatchObject({ events: 5, deliveries: 7, attempts: 9 });
    const audit = await client.internal('GET', `/internal/v1/audit?organization_id=${organization}`);
    const actions = ['organization.created', 'webhook.created', 'webhook.disabled', 'webhook.secret_rotated'];
    expect(audit.body.data.map(({ action }: { action: string }) => action).toReversed()).toEqual([
      ...actions,
      'delivery.retried',
    ]);
  });

  it('answers a repeated request with the stored answer', async () => {
    const body = { url: 'https://localhost:34853/hook', events: ['*'], description: 'Everything' };
    // `client` would miss the fields that webhooks have gained since.
    const answer = await fetch(new URL('/v1/webhooks', apiUrl), {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json', 'Idempotency-Key': 'create-hook' },
      body: JSON.stringify(body),
    });
    expect(answer.headers.get('idempotent-replayed')).toBe('true');
    expect(await answer.json()).toMatchObject({ id: 'whk_01m86tw2jbfrxs40fgpwa4neb4', description: 'Everything' });
  });

  it('delivers what was pending, parked, in the outbox and in the queue once, with the secrets that it had', async () => {
    const expected = ['bat_4', 'bat_6', 'bat_7', 'con_2', 'con_3', 'con_5', 'test'].map((name) => `/hook ${name}`);
    for (const name of [...expected, '/flaky bat_2', '/flaky bat_7']) await untilReceived(name);
    const resumed = { paused: false, organization_id: pausedOrganization };
    expect((await client.internal('POST', '/internal/v1/sending', resumed)).status).toBe(200);
    await untilReceived('/paused bat_b');
    expect(received()).toEqual([...expected, '/flaky bat_2', '/flaky bat_7', '/paused bat_b'].toSorted());
    for (const { path, headers, body } of receiver.requests)
      await verifyWebhook({ headers, rawBody: body, secret: secrets[path] ?? '', allowTests: true });
    const stored = receiver.requests.filter((request) => nameOf(request) !== 'bat_7').map(({ body }) => String(body));
    expect(bodies).toEqual(expect.arrayContaining(stored));
    const empty = { waiting: 0, active: 0, delayed: 0, failed: 0 };
    const { queues } = (await client.internal('GET', '/internal/v1/stats')).body;
    expect(queues).toMatchObject([empty, empty]);
  });

  it('knows the ids that callers gave, also in a job', async () => {
    const ids = [
      ['consultation.completed', 'con_1:completed', 'evt_01m86tw2wses0srve5cb49ecm7'],
      ['batch.failed', 'bat_4:failed', 'evt_01m86twb6yeewr15m1t7mmdax6'],
      ['batch.completed', 'bat_7:completed', expect.stringContaining('evt_')],
    ] as const;
    const events = ids.map(([type, id]) => ({
      organization_id: organization,
      type,
      id,
      data: { consultation_id: 'again', batch_id: 'again' },
    }));
    const answer = await client.emit(events as Parameters<ApiClient['emit']>[0]);
    expect(answer.body.data).toMatchObject(ids.map(([, , id]) => ({ id, duplicate: true })));
  });

  it('takes events by the statements and with the rights of a 1.0.0 producer, a repeated id once', async () => {
    const role = `producer_${randomBytes(5).toString('hex')}`;
    const statements = producerStatements(role);
    await sql.raw(`create role ${role} login password '${role}'; ${statements.rights}`).execute(stage.db);
    const producer = new Client(Object.assign(new URL(stage.databaseUrl), { username: role, password: role }).href);
    await producer.connect();
    const organizationId = fromPublicId('org', organization);
    const write = async (id: string) => {
      const event = { type: 'batch.failed', organization_id: organization, data: { batch_id: 'bat_8' } };
      const body = JSON.stringify({ id: toPublicId('evt', id), timestamp: new Date().toISOString(), ...event });
      const columns = [id, organizationId, event.type, body, null, 'bat_8:failed', 'req_8', null];
      await producer.query('begin');
      const unknown = await producer.query(statements.organizations, [[organizationId]]);
      const written = await producer.query(
        statements.write,
        columns.map((value) => [value]),
      );
      // A 1.0.0 library looks its ids up in its own transaction: the ledger replaces them with hashes at the commit.
      const found = await producer.query(statements.find, [[organizationId], ['bat_8:failed']]);
      await producer.query('commit');
      return { unknown: unknown.rows, written: written.rows, found: found.rows };
    };
    const id = newUuid();
    const found = [{ event_id: id, event_type: 'batch.failed' }];
    expect(await write(id)).toMatchObject({ unknown: [], written: [{ id }] });
    expect(await write(newUuid())).toMatchObject({ unknown: [], written: [], found });
    await producer.end();
    await sql.raw(`drop owned by ${role}; drop role ${role}`).execute(stage.db);
    await untilReceived('/hook bat_8');
  });

  it('explains deliveries of 1.0.0, and is not certain where 1.0.0 created none', async () => {
    const { fanned_out_at, data } = await get('/v1/events/evt_01m86tw2wses0srve5cb49ecm7/explain');
    expect(fanned_out_at).toBe('2026-11-24T13:10:39.871Z');
    const found = data.map(({ outcome, reason, certain }: ExplainedWebhook) => [outcome, reason, certain].join());
    const skipped = ['skipped,disabled,false', 'skipped,not_subscribed,false'];
    expect(found.toSorted()).toEqual(['failed,http_error,true', ...skipped, 'succeeded,,true', 'succeeded,,true']);
  });

  it('has lost and doubled nothing', async () => {
    const statuses = { succeeded: 16, failed: 1, canceled: 1 };
    const clean = { violations: 0, outbox: 0, missingPairs: 0, doublePairs: 0, statuses };
    await until('every outcome', () => auditLedger(stage.db), {
      holds: ({ statuses: found }) => !('pending' in found),
    });
    expect(await auditLedger(stage.db)).toEqual(clean);
    expect(received()).toHaveLength(11);
  });
});

it('has every month and takes no id of 1.0.0 again while the rows of 1.0.0 are being changed', async () => {
  await using database = await createOldLedger(undefined);
  const db = createDatabase({ url: database.url, applicationName: 'test', poolSize: 1 });
  await migrateTo(db, '2026-12-ledger');
  const client = new Client(database.url);
  await client.connect();
  const event = [fromPublicId('org', organization), 'batch.failed', '{}', null, 'bat_4:failed', null, null];
  const columns = [newUuid(), ...event].map((value) => [value]);
  const written = await client.query(producerStatements('').write, columns);
  const months = await client.query(
    `select inhparent::regclass::text as parent from pg_inherits
     where inhrelid::regclass::text in ('event_subjects_2026_11', 'fan_outs_2026_11') order by 1`,
  );
  await client.end();
  await db.destroy();
  expect(written.rows).toEqual([]);
  expect(months.rows).toEqual([{ parent: 'event_subjects' }, { parent: 'fan_outs' }]);
});

function nameOf({ body }: Pick<ReceivedRequest, 'body'>): string {
  const { data } = JSON.parse(String(body));
  return data.batch_id ?? data.consultation_id ?? 'test';
}
