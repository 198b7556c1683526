import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEventProducer, createNotifier, type EventProducer } from '@enterprise-api/shared/events';
import { countInvariantViolations, createDatabase, type Database } from '@enterprise-api/shared/ledger';
import { createJobProducer, type QueueBackend, selectQueueBackend } from '@enterprise-api/shared/queue';
import { fromPublicId, systemClock } from '@enterprise-api/shared/runtime';
import {
  createCertificateAuthority,
  createTestDatabase,
  insertOrganization,
  insertWebhook,
  type QueueBackendUnderTest,
  type Receiver,
  type ReceiverOptions,
  type ServiceProcess,
  startReceiver,
  startService,
  testInternalSecret,
  testKeyRing,
  until,
  type WebhookValues,
} from '@enterprise-api/testkit';

/** The stores, a receiver and whatever processes a test starts: everything real, and nothing shared with other files. */
export interface Stage {
  db: Database;
  databaseUrl: string;
  queue: QueueBackend;
  producer: EventProducer;
  receiver: Receiver;
  /** A receiver of its own, for tests that count connections or need another certificate. */
  startReceiver(options?: Partial<ReceiverOptions>): Promise<Receiver>;
  startWorker(settings?: Record<string, string>): Promise<ServiceProcess>;
  startApi(settings?: Record<string, string>): Promise<ServiceProcess>;
  /** An organization with one webhook at the stage's receiver (path `/hook` unless `url` says otherwise). */
  subscribe(values?: Partial<WebhookValues>): Promise<{ organizationId: string; webhookId: string }>;
  deliveries(organizationId: string): Promise<DeliveryRow[]>;
  /** Waits until the rows of an organization's deliveries satisfy a condition; fails with the rows as they are. */
  untilDeliveries(
    organizationId: string,
    condition: (rows: DeliveryRow[]) => boolean,
    withinMs?: number,
  ): Promise<DeliveryRow[]>;
  /** SIGTERM to all processes, and waits for their end. */
  stopServices(): Promise<void>;
  /** Ends all processes, checks the ledger's invariant, closes the stores. */
  close(): Promise<void>;
}

type DeliveryRow = Awaited<ReturnType<typeof findDeliveries>>[number];

/** Quick retries, so that a test sees a whole schedule. */
const settingsOfTests = {
  SECRETS_ENCRYPTION_KEYS: testKeyRing,
  INTERNAL_API_SECRET: testInternalSecret,
  WEBHOOK_ALLOWED_PRIVATE_CIDRS: '127.0.0.0/8,::1/128',
  WEBHOOK_RETRY_SCHEDULE: '200ms,400ms,800ms',
  WEBHOOK_RETRY_JITTER: '0',
  WEBHOOK_TIMEOUT_MS: '2000',
  LOG_LEVEL: 'warn',
};

export async function openStage(backend: QueueBackendUnderTest): Promise<Stage> {
  const database = await createTestDatabase();
  const store = await backend.start();
  const db = createDatabase({ url: database.url, applicationName: 'test', poolSize: 5 });
  const queue = selectQueueBackend({ redisUrl: store.redisUrl, databaseUrl: database.url });
  const jobs = createJobProducer(queue, 'fanOut', () => undefined);
  const notifier = createNotifier({ producer: jobs, clock: systemClock, onOutcome: () => undefined });
  const authority = await createCertificateAuthority();
  const certificate = await authority.issue({ hosts: ['localhost', '127.0.0.1'] });
  const caFile = join(tmpdir(), `test-ca-${randomUUID()}.pem`);
  await writeFile(caFile, authority.certificate);
  const receivers: Receiver[] = [];
  const services: ServiceProcess[] = [];
  const newReceiver = async (options: Partial<ReceiverOptions> = {}) => {
    const started = await startReceiver({ certificate, ...options });
    receivers.push(started);
    return started;
  };
  const start = async (name: 'api' | 'webhook-worker', settings: Record<string, string> = {}) => {
    const service = await startService(name, {
      DATABASE_URL: database.url,
      REDIS_URL: store.redisUrl,
      WEBHOOK_CA_FILE: caFile,
      ...settingsOfTests,
      ...settings,
    });
    services.push(service);
    return service;
  };
  const stopServices = async () => {
    await Promise.all(services.splice(0).map((service) => service.stop()));
  };
  const receiver = await newReceiver();
  return {
    db,
    databaseUrl: database.url,
    queue,
    receiver,
    producer: createEventProducer({ db, notifier }),
    startReceiver: newReceiver,
    startWorker: (settings) => start('webhook-worker', settings),
    startApi: (settings) => start('api', settings),
    subscribe: async (values = {}) => {
      const organizationId = values.organizationId ?? (await insertOrganization(db));
      const webhookId = await insertWebhook(db, { url: receiver.url('/hook'), ...values, organizationId });
      return { organizationId, webhookId };
    },
    deliveries: (organizationId) => findDeliveries(db, organizationId),
    untilDeliveries: (organizationId, condition, withinMs = 15_000) =>
      until('the deliveries', () => findDeliveries(db, organizationId), { holds: condition, withinMs }),
    stopServices,
    close: async () => {
      await stopServices();
      const violations = await countInvariantViolations(db, 1_000_000);
      await Promise.all(receivers.map((each) => each.close()));
      await jobs.close();
      await db.destroy();
      await store.close();
      await database.drop();
      await rm(caFile, { force: true });
      if (violations !== 0) throw new Error(`${violations} deliveries break the ledger's invariant.`);
    },
  };
}

/** The UUID of a public id; throws when it is none, because then the test is wrong. */
export function uuidOf(prefix: string, id: string): string {
  const uuid = fromPublicId(prefix, id);
  if (uuid === null) throw new Error(`${id} is no ${prefix} id`);
  return uuid;
}

function findDeliveries(db: Database, organizationId: string) {
  return db.selectFrom('deliveries').selectAll().where('organization_id', '=', organizationId).orderBy('id').execute();
}
