import { randomBytes, randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type ApiCustomer,
  createApiCustomer,
  testInternalSecret as internalSecret,
  type QueueBackendUnderTest,
  queueBackends,
  type ServiceProcess,
  startService,
  testKeyRing,
} from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import got from 'got';
import { sql } from 'kysely';
import { openTestStage, type TestStage, uuidOf } from '../e2e/stage.ts';
import { type MadeWebhook, needles } from './needles.ts';
import { provoke } from './refused-requests.ts';
import { databaseRows, findSecrets, type RedisWatch, type SearchedPlaces, watchRedis } from './searched-places.ts';

/** Loaded into a process before its own code: at SIGUSR2 it throws an uncaught error with the text of a file in it. */
const crashOnSignal = `process.on('SIGUSR2', () => {
  const text = process.getBuiltinModule('node:fs').readFileSync(process.env.CRASH_FILE, 'utf8');
  setImmediate(() => { throw Object.assign(new Error('deliberate: ' + text), { headers: { authorization: text } }); });
});`;

const signingSeed = randomBytes(32);
const signingKey = `signing:${signingSeed.toString('base64')}`;

describe.each(queueBackends())('secrets, queued on $name', (backend) => {
  const crashFile = join(tmpdir(), `canary-${randomUUID()}`);
  const settings = {
    LOG_LEVEL: 'trace',
    CRASH_FILE: crashFile,
    IDENTITY_SIGNING_KEYS: signingKey,
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(crashOnSignal)}`,
  };
  let stage: TestStage;
  let watch: RedisWatch | undefined;

  beforeAll(async () => {
    const store = await backend.start();
    if (store.redisUrl !== undefined) watch = await watchRedis(store.redisUrl);
    const started: QueueBackendUnderTest = { name: backend.name, start: async () => store };
    stage = await openTestStage(started);
  });
  afterAll(async () => {
    watch?.close();
    await stage.close();
    await rm(crashFile, { force: true });
  });

  it('are in no log, metric, Redis command or key, row or answer where they do not belong', async () => {
    const api = await stage.startApi(settings);
    const worker = await stage.startWorker(settings);
    const customer = await createApiCustomer(api);
    const webhooks = await subscribe(stage, customer);
    const answers = await provoke(api, customer.key, customer.organizationId);
    await emitAndFail(stage, api, customer);
    answers.push(...(await readBack(customer, webhooks[0]?.id ?? '')));
    answers.push(await got(`${api.internalUrl}/internal/v1/jwks.json`).text());
    const metrics = await Promise.all([api, worker].map(({ internalUrl }) => got(`${internalUrl}/metrics`).text()));

    const secret = webhooks[0]?.secret ?? '';
    await writeFile(crashFile, `Bearer ${customer.key} ${secret}, Bearer ${internalSecret}`);
    for (const service of [api, worker]) {
      process.kill(service.pid, 'SIGUSR2');
      expect((await service.exited).code).toBe(70);
    }
    const unusable = await startUnusable();
    const places: SearchedPlaces = new Map([
      ['log of the API', api.lines.join('\n')],
      ['log of the worker', worker.lines.join('\n')],
      ['messages about bad settings', unusable.join('\n')],
      ['metrics', metrics.join('\n')],
      ['answers', answers.join('\n')],
      ...(await databaseRows(stage.db)),
      ...((await watch?.read()) ?? []),
    ]);
    expectFull(places, backend.name, webhooks[0]?.id ?? '');
    expect(findSecrets(places, needles(customer.key, webhooks, signingSeed))).toEqual([]);
  });
});

/** Four webhooks: a healthy one, one that echoes its requests, one that refuses connections, one made idempotently. */
async function subscribe(stage: TestStage, { call, key }: ApiCustomer): Promise<MadeWebhook[]> {
  const echo = await stage.startReceiver({
    respond: ({ headers, body }) => ({ status: 500, body: `${JSON.stringify(headers)} ${String(body)}` }),
  });
  const refused = await stage.startReceiver();
  await refused.close();
  const webhooks: MadeWebhook[] = [];
  for (const url of [
    stage.receiver.url('/works'),
    echo.url('/echo'),
    refused.url('/refused'),
    stage.receiver.url('/again'),
  ]) {
    const answer = await call(
      'POST',
      '/v1/webhooks',
      { url, events: ['*'] },
      url.endsWith('again') ? { 'idempotency-key': key } : {},
    );
    expect(answer.status).toBe(201);
    webhooks.push(answer.body);
  }
  return webhooks;
}

/** Makes deliveries that succeed, are retried and fail, and breaks database connections, so that errors are logged. */
async function emitAndFail(
  stage: TestStage,
  api: ServiceProcess,
  { internal, organizationId }: ApiCustomer,
): Promise<void> {
  const uuid = uuidOf('org', organizationId);
  for (const type of ['batch.completed', 'batch.failed']) {
    await internal('POST', '/internal/v1/events', {
      organization_id: organizationId,
      type,
      data: { batch_id: 'bat_1' },
    });
  }
  await stage.untilDeliveries(uuid, (rows) => rows.filter((row) => row.last_error !== null).length >= 4);
  await sql`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`.execute(stage.db);
  await api.ready();
  await stage.untilDeliveries(
    uuid,
    (rows) => rows.length === 8 && rows.every((row) => row.status !== 'pending'),
    45_000,
  );
}

/** Reads webhooks and deliveries through the public API, with the echoed requests in them. */
async function readBack({ call }: ApiCustomer, webhookId: string): Promise<string[]> {
  const list = await call('GET', '/v1/webhooks/deliveries?limit=100');
  const paths = ['/v1/me', '/v1/webhooks', `/v1/webhooks/${webhookId}`].concat(
    list.body.data.map(({ id }: { id: string }) => `/v1/webhooks/deliveries/${id}`),
  );
  const answers = await Promise.all(paths.map((path) => call('GET', path)));
  expect(answers.map(({ status }) => status)).toEqual(paths.map(() => 200));
  return [list, ...answers].map(({ body }) => JSON.stringify(body));
}

/** A process whose settings hold secrets in the wrong form. */
async function startUnusable(): Promise<readonly string[]> {
  const settings = {
    DATABASE_URL: internalSecret,
    SECRETS_ENCRYPTION_KEYS: `${testKeyRing}x,${testKeyRing},${testKeyRing}`,
    INTERNAL_API_SECRET: `${internalSecret},short`,
    IDENTITY_SIGNING_KEYS: `${signingKey}x,${signingKey},${signingKey}`,
  };
  const service = await startService('api', settings, { waitUntilReady: false });
  expect((await service.exited).code).toBe(78);
  return service.lines;
}

/** A search that finds nothing must have searched something. */
function expectFull(places: SearchedPlaces, backend: string, webhookId: string): void {
  const text = (place: string) => places.get(place) ?? '';
  expect(text('log of the API')).toContain('deliberate: Bearer nwk_[redacted] whsec_[redacted], Bearer [redacted]');
  expect(text('log of the worker')).toContain('"attempt"');
  expect(text('metrics')).toContain('webhook_attempts_total');
  expect(text('messages about bad settings')).toContain('SECRETS_ENCRYPTION_KEYS');
  expect(text('messages about bad settings')).toContain('IDENTITY_SIGNING_KEYS');
  expect(text('answers')).toContain('"kid":"signing"');
  expect(text('answers')).toContain(webhookId);
  expect(text('answers')).toContain('x-service-signature');
  expect(text('table public.webhooks')).toContain('v1.test.');
  expect(text('table public.idempotency_keys')).toContain('v1.test.');
  expect(text('table public.attempts').length + text('table public.audit_log').length).toBeGreaterThan(1_000);
  expect(text('commands to Redis').includes('event_ids')).toBe(backend === 'redis');
}
