import { hangEndpoints, hangEndpointsOfOneHost } from '../hanging-endpoints.ts';
import { hangWithLargeBodies } from '../large-bodies.ts';
import { floodWithEvents, recoverWithBacklog } from '../neighbours.ts';
import { checkReceiverRules } from '../receiver-rules.ts';
import { timeRetries } from '../retry-timing.ts';
import { alike, type Campaign, minutes } from './entry.ts';

/** A p99 below a garbage collection of receiver or worker says nothing about the neighbours. */
const twice = { allowedRatio: 2, negligibleMs: 25 };
const threeTimes = { ...twice, allowedRatio: 3 };
/** A flood fills both cores, so the promise is a time. */
const within250Ms = { allowedRatio: 1, negligibleMs: 250 };
/** A run of seconds on a busy machine shows what stands still, not what is late. */
const coarse = { allowedRatio: 20, negligibleMs: 5_000 };

const fewNeighbours = {
  ...coarse,
  others: 20,
  eventsPerSecond: 20,
  measuredMs: 1_500,
  answerMs: 5,
  loaded: 1,
  workers: 2,
  settleWithinMs: minutes(1),
};
const neighbours = {
  others: 200,
  eventsPerSecond: 40,
  measuredMs: 20_000,
  answerMs: 5,
  loaded: 1,
  workers: 2,
  settleWithinMs: minutes(10),
};
/** Enough to use up a worker's places to wait while its permits are free. */
const slow = { loaded: 2, answerMs: 900, workers: 1 };

const fewEndpoints = {
  webhooks: 50,
  eventsPerSecond: 40,
  measuredMs: 1_500,
  settings: {},
  ...coarse,
};
const endpointsInFull = {
  webhooks: 1_000,
  eventsPerSecond: 100,
  measuredMs: 30_000,
  settings: {},
  ...twice,
};
/** Two events a second for a hundred webhooks: 200 deliveries a second to one host. */
const oneHost = { ...endpointsInFull, webhooks: 100, eventsPerSecond: 2 };
const fewOfOneHost = { ...fewEndpoints, webhooks: 30, eventsPerSecond: 2 };

const fewLargeBodies = {
  webhooks: 30,
  eventsPerWebhook: 5,
  bodyBytes: 250 * 1_024,
  budgetMib: 4,
  others: 10,
  eventsPerSecond: 20,
  measuredMs: 1_500,
  mostResidentMb: 400,
  ...coarse,
  settleWithinMs: minutes(1),
};
const largeBodiesInFull = {
  ...fewLargeBodies,
  webhooks: 200,
  budgetMib: 128,
  others: 200,
  eventsPerSecond: 40,
  measuredMs: 20_000,
  ...twice,
  settleWithinMs: minutes(5),
};

/** Endpoints that hang, recover, fail or ask for a delay, and their neighbours. */
export const endpoints = {
  R8: {
    promise: 'R8',
    what: '1 webhook hangs and has a tenth of the traffic',
    backends: 'redis',
    short: (stores) => hangEndpoints(stores, { ...fewEndpoints, hanging: 1, hangingShare: 0.1 }),
    full: (stores) => hangEndpoints(stores, { ...endpointsInFull, hanging: 1, hangingShare: 0.1 }),
  },
  'R8-many': {
    promise: 'R8',
    what: 'a fifth of the webhooks hang',
    backends: 'redis',
    short: (stores) => hangEndpoints(stores, { ...fewEndpoints, hanging: 10, hangingShare: 0.2 }),
    full: (stores) => hangEndpoints(stores, { ...endpointsInFull, hanging: 200, hangingShare: 0.2 }),
  },
  'R8-host': {
    promise: 'R8',
    what: '1 webhook of 100 of one organization at one host hangs',
    backends: 'redis',
    short: (stores) => hangEndpointsOfOneHost(stores, { ...fewOfOneHost, hanging: 1 }),
    full: (stores) => hangEndpointsOfOneHost(stores, { ...oneHost, hanging: 1 }),
  },
  'R8-host-20': {
    promise: 'R8',
    what: '20 webhooks of 100 of one organization at one host hang',
    backends: 'redis',
    short: (stores) => hangEndpointsOfOneHost(stores, { ...fewOfOneHost, hanging: 6 }),
    full: (stores) => hangEndpointsOfOneHost(stores, { ...oneHost, hanging: 20 }),
  },
  'R8-large': {
    promise: 'R8',
    what: 'an organization’s requests hang with bodies of 250 KiB; others have steady traffic',
    backends: 'redis',
    short: (stores) => hangWithLargeBodies(stores, fewLargeBodies),
    full: (stores) => hangWithLargeBodies(stores, largeBodiesInFull),
  },
  'R8-backlog': {
    promise: 'R8, F16, F36',
    what: 'a webhook recovers with a backlog; others have steady traffic',
    backends: 'redis',
    short: (stores) => recoverWithBacklog(stores, { ...fewNeighbours, backlog: 1_000 }),
    full: (stores) => recoverWithBacklog(stores, { ...neighbours, ...threeTimes, backlog: 50_000 }),
  },
  'R8-slow': {
    promise: 'R8, F16',
    what: 'two slow webhooks recover with backlogs; others have steady traffic',
    backends: 'redis',
    short: (stores) => recoverWithBacklog(stores, { ...fewNeighbours, ...slow, backlog: 400 }),
    full: (stores) => recoverWithBacklog(stores, { ...neighbours, ...slow, ...twice, backlog: 2_000 }),
  },
  'R8-flood': {
    promise: 'R8, F16',
    what: 'an organization emits very much at once; others have steady traffic',
    backends: 'both',
    short: (stores) => floodWithEvents(stores, { ...fewNeighbours, backlog: 2_000 }),
    full: (stores) => floodWithEvents(stores, { ...neighbours, ...within250Ms, backlog: 100_000 }),
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
    ...alike(checkReceiverRules),
  },
} as const satisfies Record<string, Campaign>;
