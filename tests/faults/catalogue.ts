import { killApis } from './api-killed.ts';
import { spoilNetwork } from './bad-network.ts';
import { deafenWorker } from './deaf-worker.ts';
import type { Finding } from './finding.ts';
import { hangEndpoints } from './hanging-endpoints.ts';
import { floodWithEvents, recoverWithBacklog } from './neighbours.ts';
import { poison } from './poison.ts';
import { stopPostgres } from './postgres-stopped.ts';
import { startWithoutQueue } from './queue-away.ts';
import { heedReceivers } from './receiver-wishes.ts';
import { fillRedis } from './redis-full.ts';
import { loseRedis } from './redis-lost.ts';
import { timeRetries } from './retry-timing.ts';
import { restartInTurn } from './rolling-restart.ts';
import { emitTheSame } from './same-event.ts';
import { quickLeases, type Stores } from './stage.ts';
import { killWorkers } from './worker-killed.ts';
import { suspendWorker } from './worker-suspended.ts';
import { giveWrongKeys, setClocksWrong } from './wrong-processes.ts';

/** A promise of the design, and how it is broken on purpose: in full, and in a short form that every test run does. */
export interface Campaign {
  promise: string;
  what: string;
  /** It takes the store away: it needs one of its own. */
  breaks?: 'redis' | 'postgres';
  /** The queue it runs on: both backends, or one that alone has such a thing to break. */
  backends: 'both' | 'redis' | 'postgres';
  /** None where a connection's time-outs decide how long it takes. */
  short?: (stores: Stores) => Promise<Finding>;
  full: (stores: Stores) => Promise<Finding>;
}

/** Leases of 6 s: longer than the short outages, and not so long that a test waits for them. */
const shortLeases = { WEBHOOK_TIMEOUT_MS: '2000', WORKER_LEASE_MARGIN: '4s', WORKER_START_WITHIN: '2s' };
const manyPosts = { webhooks: 10, eventsPerPost: 20, eventsWhenFull: 1_000 };
const minutes = (count: number) => count * 60_000;
const deafness = { eventsPerSecond: 10, settleWithinMs: minutes(1) };
const fewNeighbours = { others: 20, eventsPerSecond: 20, measuredMs: 1_500, answerMs: 5, settleWithinMs: minutes(1) };
const neighbours = { others: 200, eventsPerSecond: 40, measuredMs: 20_000, answerMs: 5, settleWithinMs: minutes(10) };

/** In the order in which they run. */
export const campaigns = {
  R15: {
    promise: 'R15',
    what: 'the same event emitted 100 times in parallel',
    backends: 'both',
    short: (stores) => emitTheSame(stores, { events: 2, times: 100, webhooks: 3 }),
    full: (stores) => emitTheSame(stores, { events: 50, times: 100, webhooks: 3 }),
  },
  R1: {
    promise: 'R1, R14',
    what: 'workers killed with -9 while they send; attempts against the receiver’s log',
    backends: 'both',
    short: (stores) =>
      killWorkers(stores, {
        kills: 3,
        webhooks: 3,
        eventsPerKill: 40,
        workers: 3,
        settings: quickLeases,
        resentWithinMs: 20_000,
        leaseMs: 3_000,
        startWithinMs: 1_000,
        settleWithinMs: minutes(1.5),
      }),
    full: (stores) =>
      killWorkers(stores, {
        kills: 20,
        webhooks: 10,
        eventsPerKill: 50,
        workers: 2,
        settings: {},
        resentWithinMs: minutes(1),
        leaseMs: 45_000,
        startWithinMs: 10_000,
        settleWithinMs: minutes(6),
      }),
  },
  R2: {
    promise: 'R2',
    what: 'APIs killed with -9 while their clients emit',
    backends: 'both',
    short: (stores) => killApis(stores, { kills: 3, writes: 400, clients: 8, settleWithinMs: minutes(1) }),
    full: (stores) => killApis(stores, { kills: 20, writes: 5_000, clients: 16, settleWithinMs: minutes(2) }),
  },
  R3: {
    promise: 'R3',
    what: 'Redis killed without persistence, and FLUSHALL, in turn, under load',
    breaks: 'redis',
    backends: 'redis',
    short: (stores) => loseRedis(stores, { times: 1, eventsPerSecond: 50, webhooks: 2, betweenMs: 700, downMs: 1_000 }),
    full: (stores) =>
      loseRedis(stores, { times: 3, eventsPerSecond: 100, webhooks: 3, betweenMs: 4_000, downMs: 3_000 }),
  },
  R4: {
    promise: 'R4',
    what: 'a backlog in a Redis of 64 MB, then a Redis that refuses every write',
    breaks: 'redis',
    backends: 'redis',
    short: (stores) =>
      fillRedis(stores, { ...manyPosts, backlog: 2_000, eventsWhenFull: 100, settleWithinMs: minutes(1) }),
    full: (stores) => fillRedis(stores, { ...manyPosts, backlog: 200_000, settleWithinMs: minutes(20) }),
  },
  R5: {
    promise: 'R5',
    what: 'PostgreSQL stopped under load',
    breaks: 'postgres',
    backends: 'both',
    short: (stores) =>
      stopPostgres(stores, {
        how: 'stop',
        eventsPerSecond: 20,
        webhooks: 3,
        beforeMs: 500,
        downMs: 2_500,
        settings: shortLeases,
        settleWithinMs: minutes(1),
      }),
    full: (stores) =>
      stopPostgres(stores, {
        how: 'stop',
        eventsPerSecond: 50,
        webhooks: 3,
        beforeMs: 10_000,
        downMs: 30_000,
        settings: {},
        settleWithinMs: minutes(4),
      }),
  },
  'R5-crash': {
    promise: 'R5',
    what: 'PostgreSQL killed with -9 under load',
    breaks: 'postgres',
    backends: 'both',
    short: (stores) =>
      stopPostgres(stores, {
        how: 'crash',
        eventsPerSecond: 20,
        webhooks: 3,
        beforeMs: 500,
        downMs: 1_500,
        settings: shortLeases,
        settleWithinMs: minutes(1),
      }),
    full: (stores) =>
      stopPostgres(stores, {
        how: 'crash',
        eventsPerSecond: 50,
        webhooks: 3,
        beforeMs: 10_000,
        downMs: 5_000,
        settings: {},
        settleWithinMs: minutes(4),
      }),
  },
  'R5-network': {
    promise: 'R3, R5',
    what: 'connections to the stores cut, reset, half-closed, frozen, delayed, under load',
    backends: 'both',
    short: (stores) =>
      spoilNetwork(stores, {
        faults: ['reset', 'half-close', 'freeze', 'delay'],
        alwaysAnswers: true,
        eventsPerSecond: 20,
        webhooks: 2,
        lastsMs: 600,
        settings: shortLeases,
        settleWithinMs: minutes(1),
      }),
    full: (stores) =>
      spoilNetwork(stores, {
        faults: ['cut', 'reset', 'half-close', 'freeze', 'delay'],
        alwaysAnswers: true,
        eventsPerSecond: 50,
        webhooks: 3,
        lastsMs: 5_000,
        settings: {},
        settleWithinMs: minutes(3),
      }),
  },
  'R5-forget': {
    promise: 'R3, R5',
    what: 'connections to the stores that carry nothing any more and are not told, under load',
    backends: 'both',
    full: (stores) =>
      spoilNetwork(stores, {
        faults: ['forget'],
        alwaysAnswers: false,
        eventsPerSecond: 20,
        webhooks: 3,
        lastsMs: 25_000,
        settings: {},
        settleWithinMs: minutes(3),
      }),
  },
  R6: {
    promise: 'R6',
    what: 'a worker suspended (SIGSTOP) for longer than its leases',
    backends: 'both',
    short: (stores) =>
      suspendWorker(stores, { events: 30, settings: quickLeases, forMs: 3_500, settleWithinMs: minutes(1) }),
    full: (stores) =>
      suspendWorker(stores, { events: 500, settings: {}, forMs: minutes(1), settleWithinMs: minutes(3) }),
  },
  R7: {
    promise: 'R7',
    what: 'each process in turn asked to end (SIGTERM), under load',
    backends: 'both',
    short: (stores) =>
      restartInTurn(stores, { rounds: 4, eventsPerSecond: 30, webhooks: 3, settleWithinMs: minutes(1) }),
    full: (stores) =>
      restartInTurn(stores, { rounds: 20, eventsPerSecond: 100, webhooks: 3, settleWithinMs: minutes(2) }),
  },
  R8: {
    promise: 'R8',
    what: '1 webhook hangs and has a tenth of the traffic',
    backends: 'redis',
    short: (stores) =>
      hangEndpoints(stores, {
        webhooks: 50,
        hanging: 1,
        hangingShare: 0.1,
        eventsPerSecond: 40,
        measuredMs: 1_500,
        settings: {},
        allowedRatio: 20,
      }),
    full: (stores) =>
      hangEndpoints(stores, {
        webhooks: 1_000,
        hanging: 1,
        hangingShare: 0.1,
        eventsPerSecond: 100,
        measuredMs: 30_000,
        settings: {},
        allowedRatio: 2,
      }),
  },
  'R8-many': {
    promise: 'R8',
    what: 'a fifth of the webhooks hang',
    backends: 'redis',
    short: (stores) =>
      hangEndpoints(stores, {
        webhooks: 50,
        hanging: 10,
        hangingShare: 0.2,
        eventsPerSecond: 40,
        measuredMs: 1_500,
        settings: {},
        allowedRatio: 20,
      }),
    full: (stores) =>
      hangEndpoints(stores, {
        webhooks: 1_000,
        hanging: 200,
        hangingShare: 0.2,
        eventsPerSecond: 100,
        measuredMs: 30_000,
        settings: {},
        allowedRatio: 2,
      }),
  },
  'R8-backlog': {
    promise: 'R8, F16, F36',
    what: 'a webhook recovers with a backlog; others have steady traffic',
    backends: 'redis',
    short: (stores) => recoverWithBacklog(stores, { ...fewNeighbours, crowd: 1_000, allowedP99Ms: 5_000 }),
    full: (stores) => recoverWithBacklog(stores, { ...neighbours, crowd: 50_000, allowedP99Ms: 1_000 }),
  },
  'R8-flood': {
    promise: 'R8, F16',
    what: 'an organization emits very much at once; others have steady traffic',
    backends: 'both',
    short: (stores) => floodWithEvents(stores, { ...fewNeighbours, crowd: 2_000, allowedP99Ms: 5_000 }),
    full: (stores) => floodWithEvents(stores, { ...neighbours, crowd: 100_000, allowedP99Ms: 10_000 }),
  },
  R9: {
    promise: 'R9',
    what: 'the retry schedule, and many that fail at once',
    backends: 'redis',
    short: (stores) =>
      timeRetries(stores, {
        schedule: [0.5, 1],
        deliveries: 10,
        many: 400,
        manyWebhooks: 20,
        windowSeconds: 4,
        allowedShare: 0.45,
      }),
    full: (stores) =>
      timeRetries(stores, {
        schedule: [5, 60],
        deliveries: 15,
        many: 10_000,
        manyWebhooks: 100,
        windowSeconds: 60,
        allowedShare: 0.03,
      }),
  },
  R10: {
    promise: 'R10',
    what: 'Retry-After, 410, and failing for days (rows set back)',
    backends: 'redis',
    short: heedReceivers,
    full: heedReceivers,
  },
  R13: {
    promise: 'R13',
    what: 'jobs that nobody understands; a delivery that kills its process',
    backends: 'both',
    short: (stores) => poison(stores, { badJobs: 5, innocents: 60, deaths: 3, companions: false }),
    full: (stores) => poison(stores, { badJobs: 1_000, innocents: 2_000, deaths: 10, companions: true }),
  },
  'F9-waiting': {
    promise: 'F9',
    what: 'a worker’s Redis connection that waits for jobs hears nothing any more',
    backends: 'redis',
    short: (stores) => deafenWorker(stores, { ...deafness, deaf: 'waiting' }),
    full: (stores) => deafenWorker(stores, { ...deafness, deaf: 'waiting' }),
  },
  'F9-fetching': {
    promise: 'F9',
    what: 'a worker’s Redis connection that fetches jobs hears nothing any more',
    backends: 'redis',
    short: (stores) => deafenWorker(stores, { ...deafness, deaf: 'fetching' }),
    full: (stores) => deafenWorker(stores, { ...deafness, deaf: 'fetching' }),
  },
  'F9-forgotten': {
    promise: 'F9',
    what: 'all connections of a worker to Redis carry nothing any more and are not told',
    backends: 'redis',
    short: (stores) => deafenWorker(stores, { ...deafness, deaf: 'forgotten' }),
    full: (stores) => deafenWorker(stores, { ...deafness, deaf: 'forgotten' }),
  },
  'F9-lasting': {
    promise: 'F9',
    what: 'the same for that connection and every one that takes its place',
    backends: 'redis',
    short: (stores) => deafenWorker(stores, { ...deafness, deaf: 'fetching, for good' }),
    full: (stores) => deafenWorker(stores, { ...deafness, deaf: 'fetching, for good' }),
  },
  'F9-start': {
    promise: 'F9',
    what: 'the queue’s own connections to PostgreSQL fail while processes start',
    backends: 'postgres',
    short: (stores) => startWithoutQueue(stores, { events: 20, settleWithinMs: minutes(1) }),
    full: (stores) => startWithoutQueue(stores, { events: 200, settleWithinMs: minutes(1) }),
  },
  F41: {
    promise: 'F41',
    what: 'a worker with a key ring that opens no secret, then one with the right one',
    backends: 'redis',
    short: (stores) => giveWrongKeys(stores, { events: 10, settleWithinMs: minutes(1) }),
    full: (stores) => giveWrongKeys(stores, { events: 500, settleWithinMs: minutes(1) }),
  },
  F64: {
    promise: 'F64',
    what: 'the clocks of API and workers wrong by ten minutes',
    backends: 'both',
    short: (stores) => setClocksWrong(stores, { events: 10, settleWithinMs: minutes(1) }),
    full: (stores) => setClocksWrong(stores, { events: 15, settleWithinMs: minutes(1) }),
  },
} as const satisfies Record<string, Campaign>;
