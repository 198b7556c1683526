import { randomBytes } from 'node:crypto';
import type { ApiKey, Organization, Plan, WebhookWithSecret } from '@enterprise-api/shared/contracts';
import { createDatabase, type Database } from '@enterprise-api/shared/ledger';
import { type Clock, createLogger, systemClock } from '@enterprise-api/shared/runtime';
import { createTestDatabase, type TestDatabase, testInternalSecret } from '@enterprise-api/testkit';
import { checkAnswer, type DocumentName } from '@enterprise-api/testkit/openapi';
import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import request, { type Test } from 'supertest';
import { type ApiConfig, parseConfig } from '../config.ts';
import { startApi } from '../start.ts';

type TestMethod = 'get' | 'post' | 'put' | 'patch' | 'delete' | 'head' | 'options';

export interface TestApi {
  readonly publicUrl: string;
  readonly internalUrl: string;
  readonly internalSecret: string;
  readonly db: Database;
  readonly database: TestDatabase;
  /** Lines of its log. */
  readonly logLines: string[];
  /** A request to the public listener, with a key when one is given. */
  call(method: TestMethod, path: string, key?: string): Test;
  /** A request to the internal listener, with the secret. */
  internal(method: TestMethod, path: string): Test;
  createOrganization(plan?: Plan): Promise<Organization>;
  /** Makes a key, in an organization of its own when none is given. */
  createKey(options?: CreateKeyOptions): Promise<ApiKey & { secret: string }>;
  createWebhook(key: string, fields?: object): Promise<WebhookWithSecret>;
  stop(): Promise<void>;
}

interface CreateKeyOptions {
  organizationId?: string;
  plan?: Plan;
  scopes?: string[];
  ip_allowlist?: string[];
  ip_allowlist_mode?: 'enforce' | 'report';
  expires_at?: string;
}

export interface TestApiOptions {
  /** Settings beyond those that every API has. */
  environment?: Record<string, string>;
  clock?: Clock;
  /** One of INTERNAL_API_SECRET, when that is given. */
  internalSecret?: string;
  /** The database of another API; a new one by default. */
  database?: TestDatabase;
}

/** The customer that a test of `/v1` begins with. */
export interface Customer {
  api: TestApi;
  /** A key that may do everything, of an organization of its own. */
  key: string;
  organizationId: string;
}

/** For `retry` of a request that may be repeated: a database that is too busy to answer the API's probe makes it answer 503. */
export const isBusy = (_error: unknown, answer?: { status: number }): boolean => answer?.status === 503;

/** One API for all tests of a file, and a new customer for each of them. */
export function withCustomer(begin: (customer: Customer) => void | Promise<void>): void {
  let api: TestApi;
  beforeAll(async () => {
    api = await startTestApi();
  });
  afterAll(() => api.stop());
  beforeEach(async () => {
    const { secret: key, organization_id: organizationId } = await api.createKey();
    await begin({ api, key, organizationId });
  });
}

const keyRing = `test:${randomBytes(32).toString('base64')}`;

/**
 * Starts the real API on free ports over a database of its own. Every answer is checked against its schema, and held
 * against the OpenAPI document by the helpers that send requests.
 */
export async function startTestApi(options: TestApiOptions = {}): Promise<TestApi> {
  const database = options.database ?? (await createTestDatabase());
  const logLines: string[] = [];
  const log = createLogger('api', 'info', { write: (line: string) => logLines.push(line) });
  const config = testConfig({ DATABASE_URL: database.url, ...options.environment });
  const api = await startApi(config, { log, clock: options.clock ?? systemClock, checkResponses: true });
  const db = createDatabase({ url: database.url, applicationName: 'enterprise-api-tests', poolSize: 4 });
  const { publicUrl, internalUrl } = api;
  const { internalSecret = testInternalSecret } = options;
  const internal: TestApi['internal'] = (method, path) =>
    asDocumented('internal-openapi', request(internalUrl)[method](path)).set(
      'Authorization',
      `Bearer ${internalSecret}`,
    );
  const call: TestApi['call'] = (method, path, key) => {
    const test = asDocumented('openapi', request(publicUrl)[method](path));
    return key === undefined ? test : test.set('Authorization', `Bearer ${key}`);
  };
  return {
    publicUrl,
    internalUrl,
    internalSecret,
    db,
    database,
    logLines,
    call,
    internal,
    ...createMakers(call, internal),
    stop: async () => {
      await api.stop();
      await db.destroy();
      if (options.database === undefined) await database.drop();
    },
  };
}

/** Holds the answer to a request against the OpenAPI document of its listener. */
function asDocumented(name: DocumentName, test: Test): Test {
  return test.expect((response) => {
    const { status, headers, request: sent } = response;
    const { text = '' } = response as { text?: string };
    const { method, url, _data: body } = sent as unknown as { method: string; url: string; _data?: unknown };
    const target = url.replace(/^https?:\/\/[^/]*/, '');
    checkAnswer(name, { method, target, hasBody: body !== undefined, status, headers, text });
  });
}

export function testConfig(environment: Record<string, string>): ApiConfig {
  const parsed = parseConfig({
    SECRETS_ENCRYPTION_KEYS: keyRing,
    INTERNAL_API_SECRET: testInternalSecret,
    API_HOST: '127.0.0.1',
    API_PORT: '0',
    INTERNAL_PORT: '0',
    INTERNAL_QUEUE_BOARD: 'true',
    CONSOLE_PUBLIC_URL: 'https://console.example.test',
    ...environment,
  });
  if (!parsed.ok) throw new Error(parsed.problems.join('\n'));
  return parsed.config;
}

/** What a test begins with is made also on a machine that is too busy for a moment. */
function createMakers(call: TestApi['call'], internal: TestApi['internal']) {
  const created = async (sent: Test) => (await sent.retry(3, isBusy).expect(201)).body;
  const createOrganization: TestApi['createOrganization'] = (plan = 'enterprise') =>
    created(internal('post', '/internal/v1/organizations').send({ name: 'Acme', plan }));
  const createKey: TestApi['createKey'] = async ({ organizationId, plan, ...fields } = {}) => {
    const organization = organizationId ?? (await createOrganization(plan)).id;
    const path = `/internal/v1/organizations/${organization}/keys`;
    const body = { name: 'test key', scopes: ['*'], ...fields };
    return created(internal('post', path).send(body));
  };
  const createWebhook: TestApi['createWebhook'] = async (key, fields = {}) => {
    const body = { url: 'https://hooks.example.com/in', events: ['*'], ...fields };
    return created(call('post', '/v1/webhooks', key).send(body));
  };
  return { createOrganization, createKey, createWebhook };
}
