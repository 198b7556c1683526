import {
  type FaultProxy,
  type ServiceProcess,
  startFaultProxy,
  startFleet,
  throughProxy,
} from '@enterprise-api/testkit';
import { conclude, type Finding, untilSettled } from './finding.ts';
import { emit, eventually, steadily } from './load.ts';
import { takenByJobs } from './metrics.ts';
import { openFaultStage, type Stores } from './stage.ts';

/** F9: the queue's worker is connected to Redis and hears nothing, while its process is well and others hear Redis. */
export interface Deafness {
  /**
   * `waiting`: the connection on which it waits for jobs. `fetching`: the one on which it fetches them.
   * `fetching, for good`: that one, and every one that takes its place. `forgotten`: all that the process has to Redis,
   * as by a firewall.
   */
  deaf: 'waiting' | 'fetching' | 'fetching, for good' | 'forgotten';
  eventsPerSecond: number;
  settleWithinMs: number;
}

/** What only such a connection of the queue `events` says. */
const marks = { waiting: 'bzpopmin', fetching: '{enterprise-api-events}:events:stalled' };

/** The worker's own patience is 20 s, after 5 s for a connection that does not answer; and it looks every 2. */
const noticedWithinMs = 35_000;
const rebuilding = 'recreating workers';

export async function deafenWorker(stores: Stores, size: Deafness): Promise<Finding> {
  if (stores.redisUrl === undefined) throw new Error('Only a worker with a Redis can be deaf to it.');
  const lasting = size.deaf === 'fetching, for good';
  await using resources = new AsyncDisposableStack();
  const { hostname, port } = new URL(stores.redisUrl);
  const proxy = resources.use(await startFaultProxy({ host: hostname, port: Number(port) }));
  await using stage = await openFaultStage(stores);
  const { organizationId } = await stage.subscribe(['/0', '/1']);
  const api = await stage.startApi();
  const deafWorkers: ServiceProcess[] = [];
  await using fleet = await startFleet(1, async () => {
    const worker = await stage.startWorker({ REDIS_URL: throughProxy(stores.redisUrl ?? '', proxy) });
    deafWorkers.push(worker);
    return worker;
  });
  const [first] = deafWorkers as [ServiceProcess];
  let events = 0;
  await using load = steadily(size.eventsPerSecond, async () => {
    events += 1;
    await emit(api.internalUrl, organizationId, 1);
  });
  const startedAt = Date.now();
  await eventually(async () => (await takenByJobs(first)) > 0, 20_000, 'events taken by jobs');
  makeDeaf(proxy, size.deaf);
  const deafAt = Date.now();
  if (size.deaf !== 'waiting') {
    await eventually(() => logged(first, rebuilding), noticedWithinMs, 'new queue workers are made');
  }
  if (lasting) {
    await eventually(() => fleet.exits.length > 0, noticedWithinMs, 'the process gives up');
    proxy.restore();
  }
  const hearing = () => fleet.members[0] as ServiceProcess;
  const before = lasting ? 0 : await takenByJobs(hearing());
  await eventually(async () => (await takenByJobs(hearing())) >= before + 10, 30_000, 'events are taken by jobs again');
  const curedMs = Date.now() - deafAt;
  await load.stop();
  const stoppedAt = Date.now();
  await untilSettled(stage, 2 * events, size.settleWithinMs);
  const givenUp = fleet.exits.map(({ code }) => code);
  const last = await fleet.stop();
  await api.stop();
  const longestPauseMs = stage.requests.longestPauseMs(startedAt, stoppedAt);
  return await conclude(
    stage,
    2 * events,
    {
      deliveries: 2 * events,
      'exits before the end': givenUp.join() || 'none',
      'hears again after (s)': Math.round(curedMs / 1_000),
      'longest pause in sending (s)': Math.round(longestPauseMs / 100) / 10,
    },
    {
      [`made new queue workers: ${logged(first, rebuilding)}`]: logged(first, rebuilding) === (size.deaf !== 'waiting'),
      [`it gave up with ${givenUp.join() || 'nothing'}`]: givenUp.join() === (lasting ? '1' : ''),
      [`exits ${last.map(({ code }) => code).join()}`]: last.every(({ code }) => code === 0),
      [`nothing was sent for ${longestPauseMs} ms`]: longestPauseMs <= 10_000,
      // A process that gives up lets its attempts end and records their outcomes, as at SIGTERM.
      [`${stage.requests.duplicates()} deliveries sent twice`]: stage.requests.duplicates() === 0,
    },
  );
}

function makeDeaf(proxy: FaultProxy, deaf: Deafness['deaf']): void {
  if (deaf === 'forgotten') return proxy.forget();
  proxy.deafen(deaf === 'waiting' ? marks.waiting : marks.fetching, { lasting: deaf === 'fetching, for good' });
}

function logged(worker: ServiceProcess, words: string): boolean {
  return worker.logs().some(({ msg }) => String(msg).includes(words));
}
