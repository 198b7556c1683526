import type { Uuid } from '@enterprise-api/shared/runtime';
import { DatabaseUnavailableError } from './database-health.ts';
import type { Transact } from './unit-of-work.ts';

/**
 * Records in the audit log that an operator reads the data of events, or the bodies of responses to them. Call this
 * function before you answer the operator.
 *
 * @throws DatabaseUnavailableError if the rows were not written. The operator then gets 503 instead of the bodies.
 */
export async function recordEventReads(
  transact: Transact,
  organizationId: Uuid,
  eventIds: readonly Uuid[],
): Promise<void> {
  try {
    await transact(async ({ acted }) => {
      for (const objectId of eventIds) await acted({ action: 'event.read', objectId, organizationId });
    });
  } catch (cause) {
    throw new DatabaseUnavailableError('The audit log could not be written.', { cause });
  }
}
