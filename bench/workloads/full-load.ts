import { residentMemory } from '@enterprise-api/testkit';
import { ledgerProblems } from '../measure/audit.ts';
import { ledgerBytes } from '../measure/bytes.ts';
import { deliver, deliveryFigures } from '../measure/deliver.ts';
import { emission } from '../stage/emission.ts';
import { seededRandom, zipfPicks } from '../stage/random.ts';
import { type BenchStage, openBenchStage } from '../stage/stage.ts';
import { subscribe } from '../stage/subscriptions.ts';
import type { Finding, RunContext } from '../workload.ts';

/** W1: one organization, one webhook. */
export function single(context: RunContext): Promise<Finding> {
  const { warmUp, events } = context.sizes;
  return closedRun(context, { organizations: 1, webhooks: 1, connections: 50, warmUp, events });
}

export const fanOutShape = { organizations: 1, webhooks: 100, connections: 8 };

/** W2: one organization, a hundred webhooks at a hundred addresses; every event goes to all of them. */
export function fanOut(context: RunContext): Promise<Finding> {
  return closedRun(context, { ...fanOutShape, ...context.sizes.fanOut });
}

const organizations = 1_000;

/** W3: 1,000 organizations with one webhook each, at 1,000 addresses; a few of them have most of the events. */
export function tenants(context: RunContext): Promise<Finding> {
  const { warmUp, events } = context.sizes;
  const picks = zipfPicks(warmUp + events, organizations, seededRandom(context.round));
  return closedRun(context, { organizations, webhooks: 1, connections: 50, warmUp, events, picks });
}

interface Shape {
  organizations: number;
  /** Webhooks of each organization; every event goes to all of them. */
  webhooks: number;
  connections: number;
  warmUp: number;
  events: number;
  picks?: Uint16Array;
}

/**
 * A run in which each connection emits its next event when the last one was accepted: the cost of a delivery at full
 * load.
 */
async function closedRun({ lab, setting }: RunContext, shape: Shape): Promise<Finding> {
  await using stage = await openBenchStage(lab, { setting });
  const { organizationIds } = await subscribe(stage.db, lab.receiverPort, shape);
  const { closed } = emission(stage, organizationIds, shape);
  const expected = { webhooksPerEvent: shape.webhooks };
  const warm = await deliver(stage, closed(shape.warmUp, shape.connections), expected);
  const bytesBefore = await ledgerBytes(stage.db);
  const measured = await deliver(stage, closed(shape.events, shape.connections), expected);
  const bytes = (await ledgerBytes(stage.db)) - bytesBefore;
  const ledger = await ledgerProblems(stage.db, (shape.warmUp + shape.events) * shape.webhooks);
  const { connections, requests } = measured.received;
  return {
    figures: {
      ...deliveryFigures(measured),
      ...memoryFigures(stage),
      ledger_bytes: bytes / measured.deliveries,
      connection_reuse: 1 - connections / requests,
    },
    problems: [...warm.problems, ...measured.problems, ...ledger],
  };
}

/** The peak memory of API and worker, each and together. */
function memoryFigures(stage: BenchStage): Record<string, number> {
  const peaks = Object.entries(stage.pids()).map(([name, pid]) => [`${name}_rss`, residentMemory(pid).peak] as const);
  return { ...Object.fromEntries(peaks), rss: peaks.reduce((sum, [, bytes]) => sum + bytes, 0) };
}
