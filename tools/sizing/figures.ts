/**
 * Measured values, and where each of them comes from: everything that `npm run sizing` says is arithmetic on these.
 * docs/operations/scale.md has the formulas.
 */

/** A series of the benchmark (`W=W1 make bench`) with its commit and date, or the code that sets a limit. */
export interface Source {
  from: string;
  commit?: string;
  date?: string;
}

/** The machine of all figures: two shared cores for everything, stores, receiver and load too. */
export const machine = 'Intel Xeon, 2 shared cores, 24 GB, Linux; Node.js 24.21.0, PostgreSQL 18.4, Redis 7.0.15';

/** More than was measured by so much is planned: for another machine, other statements and other bodies than those measured. */
export const safety = { cores: 2, disk: 1.3, memory: 1.15 };

/** What was measured as CPU time. */
export type Part = 'api' | 'worker' | 'redis' | 'postgres';
export type Queue = 'redis' | 'postgres';

/** Events a second, and the CPU microseconds of each: the rarer they are, the more each wake-up costs. */
export type Curve = readonly (readonly [perSecond: number, microseconds: number])[];

const full = (series: string): Source => ({
  from: `${series}, docs/performance.md`,
  commit: '7fa05c8',
  date: '2026-11-22',
});
const bytes: Source = { from: 'W15, docs/performance.md', commit: 'db7499f', date: '2026-11-23' };

/**
 * CPU time of an event of 1 KiB with one delivery; `api` and `worker` by the rate of one process, the others by that of
 * all. The last point of each is full load: more than that costs the same.
 */
export const eventCosts: Record<Queue, Record<Part, Curve>> & { sources: Record<Queue, readonly Source[]> } = {
  sources: {
    redis: [
      { from: 'An ordinary day, docs/performance.md', commit: 'd9b9b7b', date: '2026-11-23' },
      full('W1'),
      full('W7a (the API alone)'),
    ],
    postgres: [
      { from: 'An ordinary day, docs/performance.md (API, worker in halves)', commit: '0d584fd', date: '2026-11-23' },
      full('W1 postgres'),
    ],
  },
  redis: {
    api: [
      [20, 2_010],
      [100, 1_776],
      [500, 765],
      [3_954, 115],
      [9_820, 99],
    ],
    worker: [
      [20, 3_122],
      [100, 2_450],
      [500, 770],
      [3_954, 129],
    ],
    redis: [
      [20, 911],
      [100, 692],
      [500, 261],
      [3_954, 18.5],
    ],
    postgres: [
      [20, 2_689],
      [100, 2_089],
      [500, 891],
      [3_954, 156],
    ],
  },
  postgres: {
    api: [
      [20, 3_800],
      [100, 2_350],
      [500, 750],
      [3_093, 134],
    ],
    worker: [
      [20, 3_800],
      [100, 2_350],
      [500, 750],
      [3_093, 148],
    ],
    redis: [],
    postgres: [
      [20, 4_500],
      [100, 3_600],
      [500, 1_300],
      [3_093, 287],
    ],
  },
};

/** CPU microseconds of a delivery beyond an event's first, and of an attempt beyond a delivery's first. */
export const deliveryCosts = { source: full('W2'), api: 0, worker: 109, redis: 1, postgres: 87 };

/** CPU microseconds of another request (`GET /v1/me`), with its counting in Redis. */
export const requestCosts = { source: full('W7b'), api: 74, worker: 0, redis: 8, postgres: 0 };

/** CPU microseconds for each KiB of `data` beyond the first, of an event and its first delivery. The sum was measured, its parts are estimated. */
export const kibibyteCosts = { source: full('W6'), api: 17, worker: 8, redis: 0, postgres: 32 };

/** CPU microseconds of the worker for each KiB beyond the first, of each further delivery. */
export const deliveredKibibyteCost = { source: full('W6'), microseconds: 4 };

/** A connection to a receiver. */
export const receiverConnections = {
  source: {
    from: 'W9b and W15, docs/performance.md; services/webhook-worker/src/sender/connection.ts, destination.ts',
  },
  handshakeMicroseconds: 750,
  keptSeconds: 30,
  keptPerProcess: 2_000,
  memoryBytes: 88_000,
};

/** Limits of a worker that its settings do not change. */
export const workerLimits = {
  source: { from: 'services/webhook-worker/src/scheduler/scheduler.ts' },
  /** Attempts older than a second. */
  slowAttempts: 1_000,
  /** How much of a limit is planned: beyond it deliveries wait for each other. */
  share: 0.7,
};

/** Attempts of a delivery that fails to the end of the default schedule. */
export const attemptsOfFailure = { source: { from: 'WEBHOOK_RETRY_SCHEDULE' }, attempts: 10, days: 2.6 };

/** Bytes in PostgreSQL after a vacuum, by bytes of `data`: the event's row with its body. */
export const eventBytes: { source: Source; points: Curve } = {
  source: bytes,
  points: [
    [256, 585],
    [1_024, 1_365],
    [4_096, 2_933],
    [16_384, 8_441],
  ],
};

/** Bytes of the write-ahead log for an event with one delivery, by bytes of `data`. */
export const logBytes: { source: Source; points: Curve } = {
  source: bytes,
  points: [
    [256, 3_353],
    [1_024, 4_050],
    [4_096, 5_334],
    [16_384, 10_488],
  ],
};

/** Bytes in PostgreSQL of what does not depend on the body. */
export const rowBytes = {
  source: bytes,
  /** An event whose body has gone. */
  event: 325,
  eventIndexes: 116,
  delivery: 310,
  deliveryIndexes: 348,
  deliveryLog: 1_860,
  failedAttempt: 216,
};

/** What a request has beside `data`: the event around it, headers; and what TLS, TCP and IP add to all. */
export const requestBytes = { source: bytes, beside: 731, framing: 1.05 };

/** Memory of a process, in bytes: at rest, under load with few connections, and what deploy/kubernetes asks for at least. */
export const processMemory = {
  sources: [
    { ...bytes, from: 'W15, docs/performance.md (at rest)' },
    { ...full('W1'), from: 'W1, bench/results/full.jsonl: api_rss 240 to 290 MB, worker_rss 237 to 313 MB' },
  ],
  api: { load: 290e6, requestMib: 320, limitMib: 640 },
  worker: { rest: 167e6, load: 320e6, requestMib: 512, limitMib: 768 },
  bodies: 128 * 1_024 ** 2,
};

/** Memory of PostgreSQL: a rule of thumb, not measured. Ids are in the order of time, so what is written lately is what is used. */
export const postgresMemory = { least: 4e9, base: 2e9, hoursOfRows: 6, perConnection: 10e6 };

/** Redis: bytes of an event that waits, and how many wait at most: beyond 5,000 jobs the backlog is in the outbox. */
export const queueMemory = {
  source: full('W9'),
  bytesPerEvent: 49,
  events: 5_000 * 100,
  /** Whole events of queue-only producers: 1,000 of 16 KiB. */
  wholeEvents: 1_000 * 16 * 1_024,
  least: 256 * 1_024 ** 2,
};

/** Connections to PostgreSQL of one process, at most. */
export const connections = { source: { from: 'docs/operations/scale.md' }, redis: 12, postgres: 18, spare: 10 };

/** The largest load that one PostgreSQL was measured with, two cores shared with everything else. */
export const measuredMost = { source: full('W1, W2'), eventsPerSecond: 3_954, deliveriesPerSecond: 6_922 };
