import { type Database, type DatabaseTransaction, isStatementTimeout } from '@enterprise-api/shared/ledger';
import { createLoop, type Loop } from '@enterprise-api/shared/runtime';
import { hourMs, startOfHour } from './hours.ts';
import {
  addSpan,
  advanceMark,
  deleteOldWriters,
  firstEventTime,
  limitStatement,
  lockProgress,
  type Span,
  setCountedUntil,
} from './rollup-queries.ts';

const everyMs = 30_000;

/**
 * Counts events, deliveries and attempts of closed hours from the ledger, about two minutes after each hour's end.
 * Every API process runs this loop. The lock on the progress row lets one process count at a time.
 */
export function createUsageRollup({ db, onError }: { db: Database; onError: (error: unknown) => void }): Loop {
  const count = createSpanCounter(db);
  return createLoop({
    onError,
    everyMs,
    run: async () => {
      const counted = await count();
      if (counted === 'some') await deleteOldWriters(db);
      return counted === 'some' ? 0 : everyMs;
    },
  });
}

const shortestSpanMs = 60_000;
/** PostgreSQL cancels a slower statement. The next call counts only half of that statement's span. */
const statementWithinMs = 10_000;

/**
 * Creates the function that counts the next span and stores the progress in the same transaction. If the process is
 * killed, the span remains to be counted. No span is counted twice.
 *
 * @returns a function that returns `none` if nothing remains to be counted or another process counts
 */
export function createSpanCounter(db: Database, firstSpanMs = hourMs): () => Promise<'some' | 'none'> {
  let spanMs = firstSpanMs;
  return async () => {
    let span: Span | null = null;
    try {
      await db.transaction().execute(async (trx) => {
        span = await nextSpan(trx, spanMs);
        if (span !== null) await countSpan(trx, span);
      });
    } catch (error) {
      const triedMs = lengthOf(span);
      if (!isStatementTimeout(error) || triedMs <= shortestSpanMs) throw error;
      spanMs = Math.max(triedMs / 2, shortestSpanMs);
      return 'some';
    }
    return span === null ? 'none' : 'some';
  };
}

/** Returns whole closed hours, or a part of an hour if one statement cannot count the hour. */
async function nextSpan(trx: DatabaseTransaction, longestMs: number): Promise<Span | null> {
  const progress = await lockProgress(trx);
  if (progress === undefined) return null;
  const completeUntil = await advanceMark(trx);
  const from = progress.counted_until ?? (await beginning(trx));
  if (completeUntil === null || from === null) return null;
  const untilMs = Math.min(from.getTime() + longestMs, startOfHour(completeUntil.getTime()));
  return untilMs > from.getTime() ? { from, until: new Date(untilMs) } : null;
}

/** Starts one hour before the first event's hour. The clock that dated its id may have been wrong by minutes. */
async function beginning(trx: DatabaseTransaction): Promise<Date | null> {
  const first = await firstEventTime(trx);
  return first === null ? null : new Date(startOfHour(first.getTime()) - hourMs);
}

async function countSpan(trx: DatabaseTransaction, span: Span): Promise<void> {
  await limitStatement(trx, statementWithinMs);
  await addSpan(trx, span);
  await setCountedUntil(trx, span.until);
}

function lengthOf(span: Span | null): number {
  return span === null ? 0 : span.until.getTime() - span.from.getTime();
}
