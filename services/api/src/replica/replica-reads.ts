import { setTimeout as pause } from 'node:timers/promises';
import { type Database, sqlStateOf } from '@enterprise-api/shared/ledger';
import { DatabaseUnavailableError, type WithDatabaseCheck } from '../core/database-health.ts';
import { readReplayedPosition } from './queries.ts';
import type { WalPosition } from './wal-position.ts';

/**
 * Why a list was not read from the replica. `lagging`: it has not replayed what the list must show, or the primary has not
 * said in time what that is. `other_timeline`, `other_database`: it does not follow the primary. `promoted`: it is a primary
 * itself. `unavailable`: it did not answer. `conflict`: it canceled the statement in favour of what it had to replay.
 * `failed`: anything else.
 */
export type FallbackReason =
  | 'lagging'
  | 'other_timeline'
  | 'other_database'
  | 'promoted'
  | 'unavailable'
  | 'conflict'
  | 'failed';

/** What became of a read. After a fallback, nothing of it has been answered. */
export type ReplicaRead<Result> =
  | { kind: 'read'; result: Result }
  | { kind: 'fallback'; reason: FallbackReason; error?: unknown };

/**
 * Reads from the replica, once it shows everything up to a position of the primary.
 *
 * @throws what the statements threw when they took too long: they would take as long on the primary
 */
export type ReadFromReplica = <Result>(
  position: WalPosition,
  read: (db: Database) => Promise<Result>,
) => Promise<ReplicaRead<Result>>;

export interface ReplicaReadsOptions {
  replica: Database;
  /** Gives up work while the replica does not answer pings. */
  withReplicaCheck: WithDatabaseCheck;
}

/** How long a list waits for the replica to catch up. */
const catchUpWithinMs = 50;
const askAgainAfterMs = 5;

export function createReplicaReads({ replica, withReplicaCheck }: ReplicaReadsOptions): ReadFromReplica {
  // One transaction, so that a balancer or a pooler of several replicas asks the one that is then read. Not `repeatable
  // read`: its snapshot would be taken before the replica says what it has replayed, and may lack the last of that.
  const begin = () => replica.transaction().setIsolationLevel('read committed').setAccessMode('read only');
  return async (position, read) => {
    try {
      return await withReplicaCheck(() =>
        begin().execute(async (trx) => {
          const reason = await obstacle(trx, position);
          return reason === undefined ? { kind: 'read', result: await read(trx) } : { kind: 'fallback', reason };
        }),
      );
    } catch (error) {
      if (sqlStateOf(error) === queryCanceled) throw error;
      return { kind: 'fallback', reason: reasonOf(error), error };
    }
  };
}

/** Waits until the replica shows everything up to a position. @returns why it does not */
async function obstacle(trx: Database, written: WalPosition): Promise<FallbackReason | undefined> {
  const untilMs = performance.now() + catchUpWithinMs;
  for (;;) {
    const replayed = await readReplayedPosition(trx);
    if (replayed === undefined) return 'promoted';
    if (replayed.timeline !== written.timeline) return 'other_timeline';
    if (replayed.lsn >= written.lsn) return undefined;
    if (performance.now() >= untilMs) return 'lagging';
    await pause(askAgainAfterMs);
  }
}

/** Of the statement timeout. */
const queryCanceled = '57014';
/** Of a statement that stood in the way of replay, of a deadlock with it, and of a database that was dropped. */
const recoveryConflicts = new Set(['40001', '40P01', '57P04']);
/** Connections, resources, operators; `E…` are errors of sockets. */
const connectionStates = /^(?:08|53|57|E)/;

function reasonOf(error: unknown): FallbackReason {
  const state = sqlStateOf(error);
  if (recoveryConflicts.has(state)) return 'conflict';
  // Errors of the pool and the driver have no code.
  const isOfConnection = error instanceof DatabaseUnavailableError || state === '' || connectionStates.test(state);
  return isOfConnection ? 'unavailable' : 'failed';
}
