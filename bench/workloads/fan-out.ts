import type { Finding, RunContext } from '../workload.ts';
import { closedRun } from './closed-run.ts';

export const fanOutShape = { organizations: 1, webhooks: 100, connections: 8 };

/** W2: one organization, a hundred webhooks at a hundred addresses; every event goes to all of them. */
export function fanOut(context: RunContext): Promise<Finding> {
  return closedRun(context, { ...fanOutShape, ...context.sizes.fanOut });
}

/** W2 with all webhooks at one address: the worker sends an organization's deliveries to one host twenty at a time. */
export function fanOutToOneHost(context: RunContext): Promise<Finding> {
  return closedRun(context, { ...fanOutShape, addresses: 1, ...context.sizes.fanOut });
}
