import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDatabase, type Database, migrate } from '@enterprise-api/shared/ledger';
import {
  createCertificateAuthority,
  createTestDatabase,
  insertOrganization,
  insertWebhook,
  type KeyPairPem,
  type OwnPostgres,
  type RedisServer,
  type ServiceProcess,
  startReceiver,
  startService,
  testInternalSecret,
  testKeyRing,
  type WebhookValues,
} from '@enterprise-api/testkit';
import { createRequestLog, type RequestLog } from './request-log.ts';

/** What a campaign runs on. Stores that it may break are given as such; a shared database is used and left alone. */
export interface Stores {
  /** Of the queue; undefined: the queue lives in PostgreSQL. */
  redisUrl: string | undefined;
  redis?: RedisServer;
  postgres?: OwnPostgres;
}

/** A ledger, a receiver that writes down every request, and whatever processes a campaign starts. */
export interface FaultStage extends AsyncDisposable {
  readonly db: Database;
  readonly databaseUrl: string;
  readonly requests: RequestLog;
  /** Of the receiver; the processes trust it. */
  readonly certificate: KeyPairPem;
  /** A URL of the receiver. */
  url(path?: string): string;
  startWorker(settings?: Record<string, string>): Promise<ServiceProcess>;
  startApi(settings?: Record<string, string>): Promise<ServiceProcess>;
  /** An organization with webhooks at the receiver, one for each path. */
  subscribe(paths: readonly string[], values?: Partial<WebhookValues>): Promise<{ organizationId: string }>;
}

/** Leases that run out in 3 s, so that a short run does not wait 45 s for what a dead worker held. */
export const quickLeases = { WEBHOOK_TIMEOUT_MS: '1000', WORKER_LEASE_MARGIN: '2s', WORKER_START_WITHIN: '1s' };

/** @param settings of every process, beyond those that a closed network needs; all others have their defaults */
export async function openFaultStage(stores: Stores, settings: Record<string, string> = {}): Promise<FaultStage> {
  await using building = new AsyncDisposableStack();
  const databaseUrl = stores.postgres?.url ?? building.use(await createTestDatabase()).url;
  if (stores.postgres) await migrate(databaseUrl);
  const ignore = () => undefined;
  const db = createDatabase({ url: databaseUrl, applicationName: 'faults', poolSize: 4, onError: ignore });
  building.defer(() => db.destroy());
  const authority = await createCertificateAuthority();
  const caFile = join(tmpdir(), `test-ca-${randomUUID()}.pem`);
  await writeFile(caFile, authority.certificate);
  building.defer(() => rm(caFile, { force: true }));
  const certificate = await authority.issue({ hosts: ['localhost', '127.0.0.1'] });
  const receiver = await startReceiver({ certificate });
  building.defer(() => receiver.close());
  const services: ServiceProcess[] = [];
  building.defer(async () => {
    for (const service of services) service.kill('SIGCONT');
    await Promise.all(services.map((service) => service.stop()));
  });
  const start = async (name: 'api' | 'webhook-worker', own: Record<string, string> = {}) => {
    const service = await startService(name, {
      DATABASE_URL: databaseUrl,
      REDIS_URL: stores.redisUrl,
      SECRETS_ENCRYPTION_KEYS: testKeyRing,
      INTERNAL_API_SECRET: testInternalSecret,
      WEBHOOK_CA_FILE: caFile,
      WEBHOOK_ALLOWED_PRIVATE_CIDRS: '127.0.0.0/8,::1/128',
      LOG_LEVEL: 'warn',
      ...settings,
      ...own,
    });
    services.push(service);
    return service;
  };
  const url = (path = '/hook') => receiver.url(path);
  const resources = building.move();
  return {
    db,
    databaseUrl,
    requests: createRequestLog(receiver),
    certificate,
    url,
    startWorker: (own) => start('webhook-worker', own),
    startApi: (own) => start('api', own),
    subscribe: async (paths, values = {}) => {
      const organizationId = values.organizationId ?? (await insertOrganization(db));
      for (const path of paths) await insertWebhook(db, { url: url(path), ...values, organizationId });
      return { organizationId };
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}
