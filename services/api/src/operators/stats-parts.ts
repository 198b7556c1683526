import {
  type DatabaseTransaction,
  isStatementTimeout,
  markSavepoint,
  returnToSavepoint,
} from '@enterprise-api/shared/ledger';
import type { Clock } from '@enterprise-api/shared/runtime';

/** No further part is begun after this time. One that is under way may take its statement's time beyond it. */
const beginWithinMs = 6_000;

type Reads = Readonly<Record<string, () => Promise<object>>>;

/** What was read; null in place of what did not answer in its time. */
type Parts<Read extends Reads> = { [Name in keyof Read]: Awaited<ReturnType<Read[Name]>> | null };

/**
 * Reads one part after the other within a transaction. A statement that runs out of time ends its part alone.
 *
 * @throws what is no matter of time, such as a lost connection
 */
export async function readInTime<Read extends Reads>(
  trx: DatabaseTransaction,
  clock: Pick<Clock, 'monotonic'>,
  reads: Read,
): Promise<{ parts: Parts<Read>; unanswered: (keyof Read)[] }> {
  const begunAt = clock.monotonic();
  const parts = new Map<keyof Read, object | null>();
  for (const [name, read] of Object.entries(reads)) {
    const isLate = clock.monotonic() - begunAt > beginWithinMs;
    parts.set(name, isLate ? null : await readPart(trx, read));
  }
  const unanswered = [...parts].filter(([, part]) => part === null).map(([name]) => name);
  return { parts: Object.fromEntries(parts) as Parts<Read>, unanswered };
}

async function readPart(trx: DatabaseTransaction, read: () => Promise<object>): Promise<object | null> {
  await markSavepoint(trx);
  try {
    return await read();
  } catch (error) {
    if (!isStatementTimeout(error)) throw error;
    await returnToSavepoint(trx);
    return null;
  }
}
