import { createDatabase, type Database, migrate } from '@enterprise-api/shared/ledger';
import { testInternalSecret } from '../http/api-client.ts';
import { insertOrganization, insertWebhook, testKeyRing, type WebhookValues } from '../ledger/builders.ts';
import type { ProcessExit } from '../processes/guarded-process.ts';
import { type ServiceName, type ServiceProcess, type StartServiceOptions, startService } from '../processes/service.ts';
import type { KeyPairPem } from '../receiver/certificates.ts';
import { type Receiver, type ReceiverOptions, startReceiver } from '../receiver/receiver.ts';
import { startPgBouncer } from '../stores/pgbouncer.ts';
import { createTestDatabase } from '../stores/test-database.ts';
import { createReceiverTrust } from './receiver-trust.ts';

type Settings = Record<string, string>;

export interface StageOptions {
  /** The queue's Redis; undefined: the queue is in PostgreSQL. */
  redisUrl: string | undefined;
  /** A database of the caller's; by default a new one that goes with the stage. */
  databaseUrl?: string | undefined;
  /** Settings of every process, beyond those that a stage needs. All others have their defaults. */
  settings?: Settings;
  /** Puts a PgBouncer in transaction mode before the database; by default where `TEST_POOLER` is set. */
  pooled?: boolean;
}

/** A real ledger and real receivers, with the processes of the product that a test, a campaign or a benchmark starts. */
export interface Stage extends AsyncDisposable {
  readonly db: Database;
  /** The database itself, also where the processes reach it through a pooler. */
  readonly databaseUrl: string;
  /** Where there is a pooler. */
  readonly poolerUrl: string | undefined;
  /** Of receivers on 127.0.0.1; the processes trust it. */
  readonly certificate: KeyPairPem;
  /** Of receivers at other addresses or names; the processes trust it too. */
  issueCertificate(hosts: readonly string[]): Promise<KeyPairPem>;
  /** Closed with the stage. */
  startReceiver(options?: Partial<ReceiverOptions>): Promise<Receiver>;
  startApi(settings?: Settings, options?: StartServiceOptions): Promise<ServiceProcess>;
  startWorker(settings?: Settings, options?: StartServiceOptions): Promise<ServiceProcess>;
  /** The internal service of examples/consultations; it needs API_INTERNAL_URL. */
  startConsultations(settings: Settings): Promise<ServiceProcess>;
  /** An organization, new unless given, with one webhook. Ids are internal ones. */
  subscribe(values: Partial<WebhookValues> & { url: string }): Promise<{ organizationId: string; webhookId: string }>;
  /** SIGTERM to all processes, suspended ones too, and waits for their end. */
  stopServices(): Promise<ProcessExit[]>;
}

export async function openStage(options: StageOptions): Promise<Stage> {
  await using building = new AsyncDisposableStack();
  const databaseUrl = options.databaseUrl ?? building.use(await createTestDatabase()).url;
  if (options.databaseUrl !== undefined) await migrate(databaseUrl);
  // Campaigns stop the database on purpose: a broken connection is not an error here.
  const onError = () => undefined;
  const db = createDatabase({ url: databaseUrl, applicationName: 'stage', poolSize: 5, onError });
  building.defer(() => db.destroy());
  const { certificate, issue, caFile } = building.use(await createReceiverTrust());
  const receivers = createReceivers(certificate);
  building.defer(receivers.close);
  const pooled = options.pooled ?? Boolean(process.env.TEST_POOLER);
  const pooler = pooled ? await openPooler(databaseUrl, building) : undefined;
  const services = createServices({
    DATABASE_URL: databaseUrl,
    ...pooler,
    REDIS_URL: options.redisUrl,
    WEBHOOK_CA_FILE: caFile,
    ...stageSettings,
    ...options.settings,
  });
  building.defer(async () => void (await services.stop()));
  const resources = building.move();
  return {
    db,
    databaseUrl,
    poolerUrl: pooler?.DATABASE_URL,
    certificate,
    issueCertificate: issue,
    startReceiver: receivers.start,
    startApi: (settings, own) => services.start('api', settings, own),
    startWorker: (settings, own) => services.start('webhook-worker', settings, own),
    startConsultations: (settings) => services.start('consultations', { DATABASE_URL: databaseUrl, ...settings }),
    subscribe: async (values) => {
      const organizationId = values.organizationId ?? (await insertOrganization(db));
      return { organizationId, webhookId: await insertWebhook(db, { ...values, organizationId }) };
    },
    stopServices: services.stop,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

/** What no process of a stage can do without. */
const stageSettings = {
  SECRETS_ENCRYPTION_KEYS: testKeyRing,
  INTERNAL_API_SECRET: testInternalSecret,
  WEBHOOK_ALLOWED_PRIVATE_CIDRS: '127.0.0.0/8,::1/128',
  LOG_LEVEL: 'warn',
};

/** The settings of processes behind a pooler of this stage. */
async function openPooler(databaseUrl: string, building: AsyncDisposableStack): Promise<Settings> {
  await migrate(databaseUrl, { roleTimeouts: true });
  const pooler = building.use(await startPgBouncer(databaseUrl));
  return { DATABASE_URL: pooler.url, DATABASE_DIRECT_URL: databaseUrl, DATABASE_PREPARED_STATEMENTS: 'false' };
}

function createReceivers(certificate: KeyPairPem) {
  const started: Receiver[] = [];
  return {
    start: async (options: Partial<ReceiverOptions> = {}) => {
      const receiver = await startReceiver({ certificate, ...options });
      started.push(receiver);
      return receiver;
    },
    close: async () => void (await Promise.all(started.map((receiver) => receiver.close()))),
  };
}

function createServices(common: Readonly<Record<string, string | undefined>>) {
  const started: ServiceProcess[] = [];
  return {
    start: async (name: ServiceName, settings: Settings = {}, own: StartServiceOptions = {}) => {
      const service = await startService(name, { ...common, ...settings }, own);
      started.push(service);
      return service;
    },
    stop: () => {
      const services = started.splice(0);
      for (const service of services) service.kill('SIGCONT');
      return Promise.all(services.map((service) => service.stop()));
    },
  };
}
