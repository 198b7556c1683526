import { openStage, type ServiceName, type ServiceProcess, type Stage } from '@enterprise-api/testkit';
import { type CpuTimes, cpuTimes } from '../measure/cpu.ts';
import { allCores, cores, moveTo } from '../processes/pinning.ts';
import type { Lab } from './lab.ts';

/** Where the queue lives; `one-core` is Redis, with the whole system on one core. */
export type Setting = 'redis' | 'postgres' | 'one-core';

/** A stage on a new database and empty stores, with the API running, whose processes can be measured. */
export interface BenchStage extends Pick<Stage, 'db' | 'databaseUrl'>, AsyncDisposable {
  readonly lab: Lab;
  readonly api: ServiceProcess;
  startWorker(): Promise<void>;
  /** CPU time so far of all that belongs to the service. */
  cpu(): CpuTimes;
  /** The processes of the product by name (`api`, `worker`); the stores are not among them. */
  pids(): Record<string, number>;
}

export interface BenchStageOptions {
  setting?: Setting;
  /** False: deliveries have to wait for `startWorker`. */
  worker?: boolean;
  settings?: Record<string, string>;
  /** A database of the caller's; by default a new one that goes with the stage. */
  databaseUrl?: string;
}

/** Beyond those of every stage; everything else is the product's default. */
const benchSettings = { WEBHOOK_RETRY_SCHEDULE: '1s,2s,4s', WEBHOOK_TIMEOUT_MS: '5000' };

export async function openBenchStage(lab: Lab, options: BenchStageOptions = {}): Promise<BenchStage> {
  const { setting = 'redis', worker: startsWorker = true } = options;
  await using building = new AsyncDisposableStack();
  const { redis, postgres } = lab.stores;
  const settings = { ...benchSettings, WEBHOOK_CA_FILE: lab.caFile, ...options.settings };
  const redisUrl = setting === 'postgres' ? undefined : redis.url;
  const stores = { redis: redis.process.pid, postgres: postgres.pid };
  if (setting === 'one-core') building.use(keepOnOneCore(Object.values(stores)));
  const stage = building.use(await openStage({ redisUrl, settings, databaseUrl: options.databaseUrl }));
  await lab.stores.settle();
  await lab.receiver.call('reset', null);
  const start = async (name: ServiceName) => {
    const service = await (name === 'api' ? stage.startApi : stage.startWorker)();
    if (setting === 'one-core') moveTo(String(cores.system), [service.pid]);
    return service;
  };
  const api = await start('api');
  let worker = startsWorker ? await start('webhook-worker') : undefined;
  const pids = () => ({ api: api.pid, ...(worker !== undefined && { worker: worker.pid }) });
  const resources = building.move();
  return {
    lab,
    db: stage.db,
    databaseUrl: stage.databaseUrl,
    api,
    startWorker: async () => {
      worker = await start('webhook-worker');
    },
    cpu: () => cpuTimes({ ...pids(), ...stores }),
    pids,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

function keepOnOneCore(pids: readonly number[]): AsyncDisposable {
  moveTo(String(cores.system), pids);
  return { [Symbol.asyncDispose]: async () => moveTo(allCores, pids) };
}
