import { findPatroniPrograms, startRedisCluster, startRedisWithSentinel } from '@enterprise-api/testkit';
import { spoilNetwork } from '../bad-network.ts';
import { eraseUnderLoad } from '../erased-data.ts';
import { changeLeader } from '../postgres-failover.ts';
import { stopPostgres } from '../postgres-stopped.ts';
import { loseMasters, queueKey, rateKey } from '../redis-failover.ts';
import { fillRedis } from '../redis-full.ts';
import { loseRedis } from '../redis-lost.ts';
import { alike, type Campaign, minutes } from './entry.ts';

/** Leases of 6 s: longer than the short outages, and short enough that a test can wait for one to run out. */
const shortLeases = { WEBHOOK_TIMEOUT_MS: '2000', WORKER_LEASE_MARGIN: '4s', WORKER_START_WITHIN: '2s' };
const manyPosts = { webhooks: 10, eventsPerPost: 20, eventsWhenFull: 1_000 };

const underPatroni = { eventsPerSecond: 50, webhooks: 2, beforeMs: 5_000, settleWithinMs: minutes(4) };

function missingPatroni(): string | undefined {
  return findPatroniPrograms() ? undefined : 'no Patroni, etcd, HAProxy or PostgreSQL of its own on this machine.';
}

/** Stores that are away, lose their data or are full, and the network to them. */
export const stores = {
  R3: {
    promise: 'R3',
    what: 'Redis killed without persistence, and FLUSHALL, in turn, under load',
    breaks: 'redis',
    backends: 'redis',
    short: (stores) => loseRedis(stores, { times: 1, eventsPerSecond: 50, webhooks: 2, betweenMs: 700, downMs: 1_000 }),
    full: (stores) =>
      loseRedis(stores, { times: 3, eventsPerSecond: 100, webhooks: 3, betweenMs: 4_000, downMs: 3_000 }),
  },
  'R3-cluster': {
    promise: 'R3',
    what: 'a Redis Cluster, the masters of the queue and of a rate limit killed, under load',
    backends: 'redis',
    short: () => loseMasters({ start: startRedisCluster, keys: [queueKey], eventsPerSecond: 20, webhooks: 2 }),
    full: () => loseMasters({ start: startRedisCluster, keys: [queueKey, rateKey], eventsPerSecond: 50, webhooks: 3 }),
  },
  'R3-sentinel': {
    promise: 'R3',
    what: 'a master that a Sentinel watches killed, its replica takes over, under load',
    backends: 'redis',
    ...alike(() => loseMasters({ start: startRedisWithSentinel, keys: [queueKey], eventsPerSecond: 50, webhooks: 2 })),
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
        lateShare: 0.5,
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
        lateShare: 0,
        settings: {},
        settleWithinMs: minutes(4),
      }),
  },
  R20: {
    promise: 'R20',
    what: 'a subject erased and an organization closed under load, with kills of APIs, workers and stores; then everything is searched',
    breaks: 'postgres',
    backends: 'both',
    short: (stores) => eraseUnderLoad(stores, { events: 40, kills: 2, eventsPerSecond: 5, settleWithinMs: minutes(4) }),
    full: (stores) =>
      eraseUnderLoad(stores, { events: 1_000, kills: 20, eventsPerSecond: 20, settleWithinMs: minutes(10) }),
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
        lateShare: 0.5,
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
        lateShare: 0,
        settings: {},
        settleWithinMs: minutes(4),
      }),
  },
  'R5-patroni': {
    promise: 'R5',
    what: 'the leader of a Patroni with synchronous replication killed with -9, and switched over, under load',
    backends: 'both',
    missing: missingPatroni,
    full: (stores) => changeLeader(stores, { ...underPatroni, synchronous: true, steps: ['kill', 'switchover'] }),
  },
  'R5-patroni-async': {
    promise: 'R5',
    what: 'the same with asynchronous replication, whose replica has received nothing for 2 s when the leader is killed',
    backends: 'both',
    missing: missingPatroni,
    full: (stores) => changeLeader(stores, { ...underPatroni, synchronous: false, steps: ['kill while behind'] }),
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
  'R5-black-hole': {
    promise: 'R3, R5',
    what: 'connections to the stores black-holed, as by a firewall that drops their state, under load',
    backends: 'both',
    full: (stores) =>
      spoilNetwork(stores, {
        faults: ['black hole'],
        alwaysAnswers: false,
        eventsPerSecond: 20,
        webhooks: 3,
        lastsMs: 25_000,
        settings: {},
        settleWithinMs: minutes(3),
      }),
  },
} as const satisfies Record<string, Campaign>;
