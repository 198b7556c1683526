import {
  type FaultProxy,
  type Fleet,
  type ServiceProcess,
  startFaultProxy,
  startFleet,
  steadily,
  throughProxy,
  until,
} from '@enterprise-api/testkit';
import { conclude, type Finding, untilSettled } from './finding.ts';
import { emit, fannedOutByJobs } from './load.ts';
import { type FaultStage, openFaultStage, type Stores } from './stage.ts';

/** F9: connections of a worker to Redis carry no answers any more, while its process and all other connections work. */
export interface ConsumerStall {
  /**
   * `waiting`: the connection on which the worker waits for jobs is stalled. `fetching`: the one on which it fetches
   * them. `lasting`: that one, and every one that replaces it. `black-holed`: all connections of the process to Redis
   * carry nothing, as when a firewall drops their state.
   */
  what: 'waiting' | 'fetching' | 'lasting' | 'black-holed';
  eventsPerSecond: number;
  settleWithinMs: number;
}

/** Bytes that only this connection of the queue `events` sends. */
const commands = { waiting: 'bzpopmin', fetching: '{enterprise-api-events}:events:limiter' };

/** The watchdog notices a stalled consumer after 20 s, and after 5 s more when the queue does not answer; it looks every 2 s. */
const noticedWithinMs = 45_000;
const recreating = 'recreating workers';

export async function stallConsumer(stores: Stores, size: ConsumerStall): Promise<Finding> {
  const { redisUrl } = stores;
  if (redisUrl === undefined) throw new Error('Only a worker with a Redis can have a stalled connection to it.');
  await using resources = new AsyncDisposableStack();
  const { hostname, port } = new URL(redisUrl);
  const proxy = resources.use(await startFaultProxy({ host: hostname, port: Number(port) }));
  await using stage = await openFaultStage(stores);
  const { organizationId } = await stage.subscribe(['/0', '/1']);
  const api = await stage.startApi();
  await using fleet = await startFleet(1, () => stage.startWorker({ REDIS_URL: throughProxy(redisUrl, proxy) }));
  let events = 0;
  await using load = steadily(size.eventsPerSecond, async () => {
    events += 1;
    await emit(api.internalUrl, organizationId, 1);
  });
  const startedAt = Date.now();
  const recovery = await stallAndRecover(proxy, fleet, size);
  await load.stop();
  const stoppedAt = Date.now();
  await untilSettled(stage, 2 * events, size.settleWithinMs);
  const exits = { before: fleet.exits.map(({ code }) => code), atEnd: (await fleet.stop()).map(({ code }) => code) };
  await api.stop();
  return await report(stage, size, { ...recovery, exits, events, startedAt, stoppedAt });
}

interface Recovery {
  /** From the stall until events are fanned out by jobs again. */
  recoveredMs: number;
  hasRecreatedWorkers: boolean;
}

async function stallAndRecover(proxy: FaultProxy, fleet: Fleet, { what }: ConsumerStall): Promise<Recovery> {
  const current = () => fleet.members[0] as ServiceProcess;
  const first = current();
  const hasRecreatedWorkers = () => first.logs().some(({ msg }) => String(msg).includes(recreating));
  await until('events fanned out by jobs', async () => (await fannedOutByJobs(first)) > 0, { withinMs: 20_000 });
  stall(proxy, what);
  const stalledAt = Date.now();
  const noticed = { withinMs: noticedWithinMs };
  if (what !== 'waiting') await until('the worker recreates its queue workers', hasRecreatedWorkers, noticed);
  if (what === 'lasting') {
    await until('the process gives up', () => fleet.exits.length > 0, noticed);
    proxy.restore();
  }
  const before = what === 'lasting' ? 0 : await fannedOutByJobs(current());
  const consumes = async () => (await fannedOutByJobs(current())) >= before + 10;
  await until('events are fanned out by jobs again', consumes, { withinMs: 30_000 });
  return { recoveredMs: Date.now() - stalledAt, hasRecreatedWorkers: hasRecreatedWorkers() };
}

function stall(proxy: FaultProxy, what: ConsumerStall['what']): void {
  if (what === 'black-holed') proxy.blackHole();
  else proxy.stall(what === 'waiting' ? commands.waiting : commands.fetching, { lasting: what === 'lasting' });
}

interface Run extends Recovery {
  exits: { before: (number | null)[]; atEnd: (number | null)[] };
  events: number;
  startedAt: number;
  stoppedAt: number;
}

async function report(stage: FaultStage, { what }: ConsumerStall, run: Run): Promise<Finding> {
  const { exits, events, hasRecreatedWorkers } = run;
  const longestPauseMs = stage.requests.longestPauseMs(run.startedAt, run.stoppedAt);
  const duplicates = stage.requests.duplicates();
  const figures = {
    deliveries: 2 * events,
    'exits before the end': exits.before.join() || 'none',
    'consumes again after (s)': Math.round(run.recoveredMs / 1_000),
    'longest pause in sending (s)': Math.round(longestPauseMs / 100) / 10,
  };
  return await conclude(stage, 2 * events, figures, {
    [`recreated queue workers: ${hasRecreatedWorkers}`]: hasRecreatedWorkers === (what !== 'waiting'),
    [`it gave up with ${exits.before.join() || 'nothing'}`]: exits.before.join() === (what === 'lasting' ? '1' : ''),
    [`exits ${exits.atEnd.join()}`]: exits.atEnd.every((code) => code === 0),
    [`nothing was sent for ${longestPauseMs} ms`]: longestPauseMs <= 10_000,
    // A process that gives up lets its attempts end and records their outcomes, as at SIGTERM.
    [`${duplicates} deliveries sent twice`]: duplicates === 0,
  });
}
