import { startWithoutQueue } from '../queue-away.ts';
import { deafenWorker } from '../stalled-worker.ts';
import { giveWrongKeys, setClocksWrong } from '../wrong-processes.ts';
import { alike, type Campaign, minutes } from './entry.ts';

const deafness = { eventsPerSecond: 10, settleWithinMs: minutes(1) };

/** Processes that are up and have something wrong with them. */
export const wrong = {
  'F9-waiting': {
    promise: 'F9',
    what: 'a worker’s Redis connection that waits for jobs hears nothing any more',
    backends: 'redis',
    ...alike((stores) => deafenWorker(stores, { ...deafness, deaf: 'waiting' })),
  },
  'F9-fetching': {
    promise: 'F9',
    what: 'a worker’s Redis connection that fetches jobs hears nothing any more',
    backends: 'redis',
    ...alike((stores) => deafenWorker(stores, { ...deafness, deaf: 'fetching' })),
  },
  'F9-forgotten': {
    promise: 'F9',
    what: 'all connections of a worker to Redis carry nothing any more and are not told',
    backends: 'redis',
    ...alike((stores) => deafenWorker(stores, { ...deafness, deaf: 'forgotten' })),
  },
  'F9-lasting': {
    promise: 'F9',
    what: 'the same for that connection and every one that takes its place',
    backends: 'redis',
    ...alike((stores) => deafenWorker(stores, { ...deafness, deaf: 'fetching, for good' })),
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
