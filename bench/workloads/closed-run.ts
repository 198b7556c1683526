import { ledgerProblems } from '../measure/audit.ts';
import { peakMemory } from '../measure/cpu.ts';
import { deliver, deliveryFigures } from '../measure/deliver.ts';
import { ledgerBytes } from '../measure/ledger-bytes.ts';
import { emission } from '../stage/emission.ts';
import { type BenchStage, openBenchStage } from '../stage/stage.ts';
import { subscribe } from '../stage/subscriptions.ts';
import type { Finding, RunContext } from '../workload.ts';

export interface Shape {
  organizations: number;
  /** Webhooks of each organization; every event goes to all of them. */
  webhooks: number;
  /** As many as webhooks by default. */
  addresses?: number;
  connections: number;
  warmUp: number;
  events: number;
  picks?: Uint16Array;
}

/**
 * A run in which each connection emits its next event when the last one was accepted: the cost of a delivery at full
 * load.
 */
export async function closedRun({ lab, setting }: RunContext, shape: Shape): Promise<Finding> {
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
  const peaks = Object.entries(stage.pids()).map(([name, pid]) => [`${name}_rss`, peakMemory(pid)] as const);
  return { ...Object.fromEntries(peaks), rss: peaks.reduce((sum, [, bytes]) => sum + bytes, 0) };
}
