import type { Finding, RunContext } from '../workload.ts';
import { closedRun } from './closed-run.ts';

/** W1: one organization, one webhook. */
export function single(context: RunContext): Promise<Finding> {
  const { warmUp, events } = context.sizes;
  return closedRun(context, { organizations: 1, webhooks: 1, connections: 50, warmUp, events });
}
