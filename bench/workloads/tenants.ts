import { seededRandom, zipfPicks } from '../stage/random.ts';
import type { Finding, RunContext } from '../workload.ts';
import { closedRun } from './closed-run.ts';

const organizations = 1_000;

/** W3: 1,000 organizations with one webhook each, at 1,000 addresses; a few of them have most of the events. */
export function tenants(context: RunContext): Promise<Finding> {
  const { warmUp, events } = context.sizes;
  const picks = zipfPicks(warmUp + events, organizations, seededRandom(context.round));
  return closedRun(context, { organizations, webhooks: 1, connections: 50, warmUp, events, picks });
}
