import type { DatabaseTransaction } from '@enterprise-api/shared/ledger';
import type { Uuid } from '@enterprise-api/shared/runtime';
import { type Problem, problem } from '../http/problem.ts';
import { lockOrganizationState } from './queries.ts';

export { findOrganizationState } from './queries.ts';

export const organizationClosed = problem('conflict', { message: 'The organization is closed.' });

/**
 * Keeps an organization active until the transaction ends. Call this function before you change the organization.
 *
 * @returns the problem if the organization does not exist or is closed
 */
export async function requireActive(trx: DatabaseTransaction, organizationId: Uuid): Promise<Problem | undefined> {
  const state = await lockOrganizationState(trx, organizationId);
  if (state === 'active') return undefined;
  return state === undefined ? problem('not_found') : organizationClosed;
}
