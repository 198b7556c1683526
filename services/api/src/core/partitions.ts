import { type Database, databaseTime, ensurePartitions } from '@enterprise-api/shared/ledger';
import type { Closers } from '@enterprise-api/shared/runtime';

const dayMs = 24 * 3_600_000;

/** Creates the coming months' partitions now and once a day. Without its partition an event would be refused. */
export async function maintainPartitions(
  db: Database,
  closers: Closers,
  onError: (error: unknown) => void,
): Promise<void> {
  const ensure = async () => ensurePartitions(db, await databaseTime(db));
  await ensure();
  const timer = setInterval(() => void ensure().catch(onError), dayMs).unref();
  closers.add('partition timer', () => clearInterval(timer));
}
