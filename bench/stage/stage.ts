import { createDatabase, type Database } from '@enterprise-api/shared/ledger';
import {
  createTestDatabase,
  type ServiceName,
  type ServiceProcess,
  startService,
  testKeyRing,
} from '@enterprise-api/testkit';
import { type CpuTimes, cpuTimes } from '../measure/cpu.ts';
import { allCores, cores, moveTo } from '../processes/pinning.ts';
import type { Lab } from './lab.ts';

/** Where the queue lives; `one-core` is Redis, with the whole system on one core. */
export type Setting = 'redis' | 'postgres' | 'one-core';

/** A fresh database, empty stores, and the product's processes on them. */
export interface Stage extends AsyncDisposable {
  readonly lab: Lab;
  readonly db: Database;
  readonly databaseUrl: string;
  readonly api: ServiceProcess;
  startWorker(): Promise<void>;
  /** CPU time so far of all that belongs to the service. */
  cpu(): CpuTimes;
  /** The processes of the product by name; the stores are not among them. */
  pids(): Record<string, number>;
}

export interface StageOptions {
  setting?: Setting;
  /** False: deliveries have to wait for `startWorker`. */
  worker?: boolean;
  settings?: Record<string, string>;
}

export const internalSecret = 'an-internal-secret-for-benchmarks-only-0123456789';

/** What benchmark.md says; everything else is the product's default. */
const settingsOfAll = {
  SECRETS_ENCRYPTION_KEYS: testKeyRing,
  INTERNAL_API_SECRET: internalSecret,
  WEBHOOK_ALLOWED_PRIVATE_CIDRS: '127.0.0.0/8',
  WEBHOOK_RETRY_SCHEDULE: '1s,2s,4s',
  WEBHOOK_TIMEOUT_MS: '5000',
  LOG_LEVEL: 'warn',
};

export async function openStage(lab: Lab, options: StageOptions = {}): Promise<Stage> {
  await using building = new AsyncDisposableStack();
  const database = building.use(await createTestDatabase());
  await lab.stores.settle();
  await lab.receiver.call('reset', null);
  const db = createDatabase({ url: database.url, applicationName: 'bench', poolSize: 2 });
  building.defer(() => db.destroy());
  const { redis, postgres } = lab.stores;
  const stores = { redis: redis.process.pid, postgres: postgres.pid };
  if (options.setting === 'one-core') {
    moveTo(String(cores.systems), Object.values(stores));
    building.defer(() => moveTo(allCores, Object.values(stores)));
  }
  // A stack of its own: a worker may be started long after the stage was built.
  const processes = building.use(new AsyncDisposableStack());
  const start = async (name: ServiceName) => {
    return processes.use(await startProcess(lab, name, database.url, options));
  };
  const api = await start('api');
  let worker = options.worker === false ? undefined : await start('webhook-worker');
  const pids = () => ({ api: api.pid, ...(worker && { worker: worker.pid }) });
  const resources = building.move();
  return {
    lab,
    db,
    databaseUrl: database.url,
    api,
    startWorker: async () => {
      worker = await start('webhook-worker');
    },
    cpu: () => cpuTimes({ ...pids(), ...stores }),
    pids,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

async function startProcess(
  lab: Lab,
  name: ServiceName,
  databaseUrl: string,
  { setting = 'redis', settings = {} }: StageOptions,
): Promise<ServiceProcess> {
  const profiles = process.env.PROFILE_INTO;
  const service = await startService(name, {
    ...settingsOfAll,
    DATABASE_URL: databaseUrl,
    REDIS_URL: setting === 'postgres' ? undefined : lab.stores.redis.url,
    WEBHOOK_CA_FILE: lab.caFile,
    ...(profiles && { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${profiles}/${name}` }),
    ...settings,
  });
  if (setting === 'one-core') moveTo(String(cores.systems), [service.pid]);
  return service;
}
