import { killApis } from '../api-killed.ts';
import { replaceApisBehindIngress } from '../behind-ingress.ts';
import { poison } from '../poison.ts';
import { liveRandomly } from '../random-histories.ts';
import { killRetention } from '../retention-killed.ts';
import { restartInTurn } from '../rolling-restart.ts';
import { emitTheSame } from '../same-event.ts';
import { killService } from '../service-killed.ts';
import { quickLeases } from '../stage.ts';
import { killWorkers } from '../worker-killed.ts';
import { suspendWorker } from '../worker-suspended.ts';
import { type Campaign, minutes } from './entry.ts';

/** Leases of 7 s: eight requests must be under way before the first has run out of time, on a busy machine too. */
const suspendedLeases = { WEBHOOK_TIMEOUT_MS: '3000', WORKER_LEASE_MARGIN: '4s', WORKER_START_WITHIN: '2s' };

/** Processes that are killed, suspended or replaced, and what kills them. */
export const processes = {
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
  R6: {
    promise: 'R6',
    what: 'a worker suspended (SIGSTOP) for longer than its leases',
    backends: 'both',
    short: (stores) =>
      suspendWorker(stores, { events: 30, settings: suspendedLeases, forMs: 7_500, settleWithinMs: minutes(1) }),
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
  'R7-ingress': {
    promise: 'R7',
    what: 'both processes of the API asked to end (SIGTERM), one after the other, behind nginx that asks them',
    backends: 'postgres',
    // The short form is tests/ingress/replacement.test.ts.
    full: () => replaceApisBehindIngress('nginx', 10_000),
  },
  R13: {
    promise: 'R13',
    what: 'malformed jobs; a delivery that kills its process',
    backends: 'both',
    short: (stores) => poison(stores, { badJobs: 5, others: 60, deaths: 3, sendsMeanwhile: false }),
    full: (stores) => poison(stores, { badJobs: 1_000, others: 2_000, deaths: 10, sendsMeanwhile: true }),
  },
  R18: {
    promise: 'R18',
    what: 'an internal service killed with -9 while its work ends',
    backends: 'both',
    short: (stores) => killService(stores, { kills: 2, consultations: 50, clients: 8, settleWithinMs: minutes(1) }),
    full: (stores) => killService(stores, { kills: 20, consultations: 500, clients: 8, settleWithinMs: minutes(2) }),
  },
  R19: {
    promise: 'R19',
    what: 'two years of months go under load, and what removes them is killed',
    backends: 'both',
    short: (stores) =>
      killRetention(stores, {
        months: 24,
        eventsPerMonth: 200,
        pendingPerMonth: 2,
        kills: 6,
        emissionsPerSecond: 5,
        settleWithinMs: minutes(2),
      }),
    full: (stores) =>
      killRetention(stores, {
        months: 24,
        eventsPerMonth: 20_000,
        pendingPerMonth: 5,
        kills: 40,
        emissionsPerSecond: 20,
        settleWithinMs: minutes(5),
      }),
  },
  R21: {
    promise: 'R21',
    what: 'random changes, pauses, limits, replays, erasures and kills; every event must be explained, counted and delivered',
    backends: 'both',
    short: (stores) => liveRandomly(stores, { steps: 120, seed: Date.now(), settleWithinMs: minutes(2) }),
    full: (stores) => liveRandomly(stores, { steps: 2_000, seed: Date.now(), settleWithinMs: minutes(5) }),
  },
} as const satisfies Record<string, Campaign>;
