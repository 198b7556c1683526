import { join } from 'node:path';
import { commaList, type Environment } from '@enterprise-api/shared/runtime';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@enterprise-api/testkit';
import { type Arrival, type DemoReceiver, startDemoReceiver } from '../receiver.ts';
import type { Terminal } from '../terminal.ts';
import { loadReceiverCertificate } from './certificate.ts';
import type { DemoState } from './demo-state.ts';
import { keyFingerprints, loadGeneratedSecrets } from './generated-secrets.ts';
import { choosePorts } from './ports.ts';
import { requireRedis } from './redis.ts';
import { migrateDatabase, type Service, type ServiceOptions, startService } from './services.ts';
import { databaseName, type GivenSettings, type Listeners, localUrl, serviceEnvironment } from './settings.ts';

export interface BringUpOptions {
  project: string;
  dataFolder: string;
  env: Environment;
  given: GivenSettings;
  state: DemoState;
  terminal: Terminal;
  onArrival: (arrival: Arrival) => void;
  /** Aborted: everything under way ends. */
  signal: AbortSignal;
  /** Called when PostgreSQL or a service has ended by itself. */
  onDeath: (error: Error) => void;
}

/** What is running, and where. */
export interface Running {
  apiUrl: string;
  internalUrl: string;
  internalSecret: string;
  /** Of producers that emit by HTTP. */
  eventsSecret: string;
  databaseUrl: string;
  workerUrl: string;
  receiver: DemoReceiver;
  caFile: string;
  /** The name under which the demo's state keeps what it created in this database. */
  database: string;
  /** Fingerprints of the services' encryption keys, the encrypting one first. */
  encryptionKeys: string[];
}

/** Starts what the environment does not provide, in the order in which the parts need each other. */
export async function bringUp(options: BringUpOptions, resources: AsyncDisposableStack): Promise<Running> {
  const { dataFolder, given, state, terminal } = options;
  if (given.REDIS_URL !== undefined) await checkRedis(given.REDIS_URL, terminal);
  const databaseUrl = given.DATABASE_URL ?? (await bringUpPostgres(options, resources)).url;
  const secrets = loadGeneratedSecrets(join(dataFolder, 'secrets.json'));
  const certificate = await loadReceiverCertificate(dataFolder, given.WEBHOOK_CA_FILE);
  const { listeners, receiverPort } = await chooseListeners(given, state.receiverPort(), terminal);
  const receiver = resources.use(
    await startDemoReceiver({ port: receiverPort, ...certificate, onArrival: options.onArrival }),
  );
  state.setReceiverPort(receiverPort);
  const env = serviceEnvironment(options.env, given, {
    ...secrets,
    databaseUrl,
    listeners,
    caFile: certificate.bundleFile,
  });
  await migrate(options, env);
  await bringUpServices(options, env, listeners, resources);
  return {
    apiUrl: localUrl(listeners.api),
    internalUrl: localUrl(listeners.internal),
    internalSecret: firstOf(given.INTERNAL_API_SECRET) ?? secrets.internalSecret,
    eventsSecret: firstOf(given.INTERNAL_EVENTS_SECRET) ?? secrets.eventsSecret,
    databaseUrl,
    workerUrl: localUrl(listeners.worker),
    receiver,
    caFile: certificate.caFile,
    database: given.DATABASE_URL === undefined ? 'embedded' : databaseName(given.DATABASE_URL),
    encryptionKeys: keyFingerprints(given.SECRETS_ENCRYPTION_KEYS ?? secrets.encryptionKeys),
  };
}

/** The newest of several accepted secrets. */
function firstOf(secrets: string | undefined): string | undefined {
  return commaList(secrets ?? '')[0];
}

async function checkRedis(url: string, terminal: Terminal): Promise<void> {
  await terminal.step('Asking Redis', async () => {
    await requireRedis(url);
    return `Redis answers at ${new URL(url).host}`;
  });
}

async function bringUpPostgres(options: BringUpOptions, resources: AsyncDisposableStack): Promise<EmbeddedPostgres> {
  const { dataFolder, terminal, signal } = options;
  let postgres: EmbeddedPostgres | undefined;
  await terminal.step('Starting PostgreSQL', async (update) => {
    const say = (line: string) => terminal.note(line);
    const onProgress = update;
    const database = 'enterprise_api';
    postgres = resources.use(
      await startEmbeddedPostgres({ dataFolder, database, durable: true, say, onProgress, signal }),
    );
    void postgres.exited.then((lines) => options.onDeath(new Error(`PostgreSQL ended.\n${lines.join('\n')}`)));
    return `PostgreSQL ${postgres.version} on 127.0.0.1:${postgres.port}, data in ${postgres.folder}`;
  });
  if (postgres === undefined) throw new Error('PostgreSQL was not started.');
  return postgres;
}

async function chooseListeners(given: GivenSettings, receiverPort: number | undefined, terminal: Terminal) {
  const local = '127.0.0.1';
  const hosts = {
    api: given.API_HOST ?? local,
    internal: given.INTERNAL_HOST ?? local,
    worker: given.WORKER_HOST ?? local,
  };
  const [api = 0, internal = 0, worker = 0, consultations = 0, receiver = 0] = await choosePorts(
    [
      { name: 'API_PORT', host: hosts.api, given: given.API_PORT, usual: 3000 },
      { name: 'INTERNAL_PORT', host: hosts.internal, given: given.INTERNAL_PORT, usual: 3001 },
      { name: 'WORKER_PORT', host: hosts.worker, given: given.WORKER_PORT, usual: 3002 },
      { name: 'example service', host: local, given: undefined, usual: 3003 },
      { name: 'demo receiver', host: local, given: undefined, usual: receiverPort ?? 3443 },
    ],
    (line) => terminal.note(line),
  );
  const listeners: Listeners = {
    api: { host: hosts.api, port: api },
    internal: { host: hosts.internal, port: internal },
    worker: { host: hosts.worker, port: worker },
    consultations: { host: local, port: consultations },
  };
  return { listeners, receiverPort: receiver };
}

async function migrate({ project, given, terminal, signal }: BringUpOptions, env: Environment): Promise<void> {
  await terminal.step('Migrating the database', async () => {
    const outcome = await migrateDatabase(project, env, signal);
    const where = given.DATABASE_URL === undefined ? '' : ` ${databaseName(given.DATABASE_URL)}`;
    return `Database${where}: ${outcome}`;
  });
}

async function bringUpServices(
  options: BringUpOptions,
  env: Environment,
  listeners: Listeners,
  resources: AsyncDisposableStack,
): Promise<void> {
  const { project, dataFolder, terminal, signal } = options;
  const logFolder = join(dataFolder, 'logs');
  const start = (name: ServiceOptions['name'], readyUrl: string, environment = env): Promise<Service> =>
    startService({ name, readyUrl, project, env: environment, logFolder, signal });
  const { host, port } = listeners.consultations;
  const exampleEnv = { ...env, HOST: host, PORT: String(port), API_INTERNAL_URL: localUrl(listeners.internal) };
  await terminal.step('Starting the API, the worker and the example service', async () => {
    const started = await Promise.allSettled([
      start('api', `${localUrl(listeners.api)}/readyz`),
      start('worker', `${localUrl(listeners.worker)}/readyz`),
      start('consultations', `${localUrl(listeners.consultations)}/healthz`, exampleEnv),
    ]);
    const services = started.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    // Stopped at the same time: each waits for its deliveries and requests under way.
    resources.defer(async () => void (await Promise.all(services.map((service) => service[Symbol.asyncDispose]()))));
    for (const result of started) if (result.status === 'rejected') throw result.reason;
    for (const service of services) void service.death.then(options.onDeath);
    const queue = options.given.REDIS_URL === undefined ? 'PostgreSQL' : 'Redis';
    const places = `API on ${localUrl(listeners.api)}, worker on ${localUrl(listeners.worker)}`;
    return `${places}, example service on ${localUrl(listeners.consultations)}, queue on ${queue}`;
  });
}
