import { startWithoutQueue } from '../queue-away.ts';
import { stallConsumer } from '../stalled-consumer.ts';
import { giveWrongKeys, setClocksWrong } from '../wrong-processes.ts';
import { alike, type Campaign, minutes } from './entry.ts';

const stall = { eventsPerSecond: 10, settleWithinMs: minutes(1) };

/** Processes that run with stalled connections, without their queue, with wrong keys or wrong clocks. */
export const wrong = {
  'F9-waiting': {
    promise: 'F9',
    what: 'a worker’s Redis connection that waits for jobs stalls',
    backends: 'redis',
    ...alike((stores) => stallConsumer(stores, { ...stall, what: 'waiting' })),
  },
  'F9-fetching': {
    promise: 'F9',
    what: 'a worker’s Redis connection that fetches jobs stalls',
    backends: 'redis',
    ...alike((stores) => stallConsumer(stores, { ...stall, what: 'fetching' })),
  },
  'F9-black-holed': {
    promise: 'F9',
    what: 'all connections of a worker to Redis are black-holed',
    backends: 'redis',
    ...alike((stores) => stallConsumer(stores, { ...stall, what: 'black-holed' })),
  },
  'F9-lasting': {
    promise: 'F9',
    what: 'a worker’s Redis connection that fetches jobs stalls, and every one that takes its place',
    backends: 'redis',
    ...alike((stores) => stallConsumer(stores, { ...stall, what: 'lasting' })),
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
