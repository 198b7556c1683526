import type { NewEvent } from './new-event.ts';
import { StatementTooLateError, type WrittenEvent } from './write-events.ts';

/** Joins the events of many callers into few statements. */
export interface Batches {
  /**
   * Resolves with an entry per event when all of them are committed; rejects when none is.
   *
   * @param isWanted whether the caller still waits; asked before each statement. Without it, the caller waits for ever
   */
  write(events: NewEvent[], isWanted?: () => boolean): Promise<WrittenEvent[]>;
}

/** The caller stopped waiting before its events were sent to the database: none of them was written. */
class EmissionAbandonedError extends Error {
  override readonly name = 'EmissionAbandonedError';
}

interface Group {
  events: NewEvent[];
  isWanted: (() => boolean) | undefined;
  resolve: (written: WrittenEvent[]) => void;
  reject: (error: unknown) => void;
}

/** One statement takes about this many events; a caller's group is never cut. */
const eventsPerStatement = 200;
/** Statements under way at once. While they run, the next turns' events gather: the busier, the larger the batches. */
const maxStatements = 2;
/** A statement that came too late is sent again: the database answers, and only the estimate of its clock was wrong. */
const maxTries = 3;

/**
 * Everything handed in during one turn of the event loop goes out in one statement: measured, 20,000 events/s where
 * one insert per event gave 9,600. When a shared statement fails, each caller's group is written alone, so that
 * nobody fails for another's event.
 *
 * @param write writes in one statement. With `isUrgent`, a statement that is held up on its way must write nothing.
 */
export function createBatches(write: (events: NewEvent[], isUrgent: boolean) => Promise<WrittenEvent[]>): Batches {
  let waiting: Group[] = [];
  let scheduled = false;
  let running = 0;

  const writeAlone = async (group: Group): Promise<void> => {
    for (let tries = 1; ; tries++) {
      if (isAbandoned(group)) return;
      try {
        return group.resolve(await write(group.events, group.isWanted !== undefined));
      } catch (error) {
        if (!(error instanceof StatementTooLateError) || tries === maxTries) return group.reject(error);
      }
    }
  };
  const writeTogether = async (all: Group[]): Promise<void> => {
    const groups = all.filter((group) => !isAbandoned(group));
    if (groups.length === 0) return;
    if (groups.length === 1) return Promise.all(groups.map(writeAlone)).then(() => undefined);
    let written: WrittenEvent[];
    try {
      const isUrgent = groups.some((group) => group.isWanted !== undefined);
      written = await write(
        groups.flatMap((group) => group.events),
        isUrgent,
      );
    } catch {
      for (const group of groups) await writeAlone(group);
      return;
    }
    let start = 0;
    for (const group of groups) {
      group.resolve(written.slice(start, start + group.events.length));
      start += group.events.length;
    }
  };
  const pump = () => {
    scheduled = false;
    while (waiting.length > 0 && running < maxStatements) {
      const { batch, rest } = split(waiting);
      waiting = rest;
      running += 1;
      void writeTogether(batch).finally(() => {
        running -= 1;
        pump();
      });
    }
  };
  return {
    write: (events, isWanted) =>
      new Promise((resolve, reject) => {
        waiting.push({ events, isWanted, resolve, reject });
        if (!scheduled) {
          scheduled = true;
          setImmediate(pump);
        }
      }),
  };
}

/** Rejects a group whose caller does not wait any more. */
function isAbandoned(group: Group): boolean {
  if (group.isWanted?.() ?? true) return false;
  group.reject(new EmissionAbandonedError('The caller stopped waiting before its events were written.'));
  return true;
}

function split(groups: Group[]): { batch: Group[]; rest: Group[] } {
  let count = 0;
  const end = groups.findIndex((group) => {
    count += group.events.length;
    return count >= eventsPerStatement;
  });
  return end === -1 ? { batch: groups, rest: [] } : { batch: groups.slice(0, end + 1), rest: groups.slice(end + 1) };
}
