import type { Database } from '@enterprise-api/shared/ledger';
import { type Clock, createMicroBatcher, withTimeout } from '@enterprise-api/shared/runtime';
import type { FallbackReason, ReadFromReplica, ReplicaRead } from './replica-reads.ts';
import type { WalPosition } from './wal-position.ts';

/** Runs the statements of a list where they show whatever any process has answered before. */
export type HistoryReads = <Result>(read: (db: Database) => Promise<Result>) => Promise<Result>;

/** Without a replica, lists are read where everything is written. */
export function createPrimaryReads(db: Database): HistoryReads {
  return (read) => read(db);
}

export interface HistoryReadsOptions {
  primary: Database;
  /** Up to where the primary has written. */
  writtenPosition: () => Promise<WalPosition>;
  readFromReplica: ReadFromReplica;
  /** Whether a replica is one of the primary's, not of another database with positions of its own. */
  followsPrimary: (replica: Database) => Promise<boolean>;
  clock: Pick<Clock, 'monotonic'>;
  onRead: (place: 'replica' | 'primary') => void;
  /** A list is not read from the replica. */
  onFallback: (reason: FallbackReason) => void;
  /** The replica was asked and could not be read; without an error when nothing failed. */
  onObstacle: (reason: FallbackReason, error?: unknown) => void;
}

/** After a list could not be read from the replica, others go to the primary for so long without asking. */
const avoidForMs = 1_000;

/**
 * Reads lists from a replica where it shows at least what any process has answered before the request came: everything
 * that the primary has written by now. Other lists are read from the primary.
 *
 * No list waits for a replica that another list has just waited for in vain: a second later, one asks it beside its own
 * read from the primary whether it can be read again.
 */
export function createHistoryReads(options: HistoryReadsOptions): HistoryReads {
  const { primary, followsPrimary, clock, onRead, onFallback, onObstacle } = options;
  const tryReplica = createTries(options);
  const avoidance = createAvoidance(clock, async () => {
    const outcome = await tryReplica(followsPrimary);
    if (outcome.kind === 'fallback') return outcome.reason;
    if (!outcome.result) onObstacle('other_database');
    return outcome.result ? undefined : 'other_database';
  });
  const readPrimary: HistoryReads = (read) => {
    onRead('primary');
    return read(primary);
  };
  return async (read) => {
    const avoided = avoidance.reason();
    if (avoided !== undefined) {
      onFallback(avoided);
      return await readPrimary(read);
    }
    const outcome = await tryReplica(read);
    if (outcome.kind === 'fallback') {
      onFallback(outcome.reason);
      // A conflict ends one statement: nothing is wrong with the replica.
      if (outcome.reason !== 'conflict') avoidance.begin(outcome.reason);
      return await readPrimary(read);
    }
    onRead('replica');
    return outcome.result;
  };
}

type TryReplica = <Result>(read: (db: Database) => Promise<Result>) => Promise<ReplicaRead<Result>>;

/** For the position, which the primary's disk may hold up. */
const positionWithinMs = 250;

/** Lists that come while the primary is asked for its position wait for the next answer, together. */
function createTries({ writtenPosition, readFromReplica, onObstacle }: HistoryReadsOptions): TryReplica {
  const positions = createMicroBatcher({ maxRunning: 1, run: writtenPosition });
  const askPrimary = () => positions.add(null).catch((error: unknown) => ({ error }));
  const currentPosition = () => withTimeout(askPrimary(), positionWithinMs, () => undefined);
  const ask: TryReplica = async (read) => {
    const position = await currentPosition();
    if (position === undefined) return { kind: 'fallback', reason: 'lagging' };
    // What the read from the primary comes to is then the answer.
    if ('error' in position) return { kind: 'fallback', reason: 'failed', ...position };
    return await readFromReplica(position, read);
  };
  return async (read) => {
    const outcome = await ask(read);
    if (outcome.kind === 'fallback') onObstacle(outcome.reason, outcome.error);
    return outcome;
  };
}

/**
 * Says why the replica is avoided, if it is: at first because nobody has asked it.
 *
 * @param findObstacle asks the replica
 */
function createAvoidance(clock: Pick<Clock, 'monotonic'>, findObstacle: () => Promise<FallbackReason | undefined>) {
  let current: FallbackReason | undefined = 'unavailable';
  let untilMs = clock.monotonic();
  let isAsking = false;
  const begin = (reason: FallbackReason) => {
    current = reason;
    untilMs = clock.monotonic() + avoidForMs;
  };
  const ask = async () => {
    isAsking = true;
    const obstacle = await findObstacle().catch((): FallbackReason => 'failed');
    isAsking = false;
    if (obstacle === undefined) current = undefined;
    else begin(obstacle);
  };
  return {
    begin,
    reason: () => {
      if (current !== undefined && !isAsking && clock.monotonic() >= untilMs) void ask();
      return current;
    },
  };
}
