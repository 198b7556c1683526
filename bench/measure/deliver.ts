import { setTimeout as pause } from 'node:timers/promises';
import type { Load, LoadResult } from '../generator/load.ts';
import type { Received } from '../receiver/calls.ts';
import type { BenchStage } from '../stage/stage.ts';
import { audit, type Expectation } from './audit.ts';
import { type CpuTimes, difference, total } from './cpu.ts';
import { untilReceived } from './until-received.ts';

/** A load that went through the whole system. */
export interface Delivered {
  load: LoadResult;
  received: Received;
  /** CPU time of the service's processes, from the first request until the last outcome was recorded. */
  cpu: CpuTimes;
  /** Confirmed by the receiver: answered 200. */
  deliveries: number;
  /** From the first request sent to the last delivery received. */
  seconds: number;
  problems: string[];
}

/** An outcome is recorded at most 100 ms after its delivery; the rest is for a slow disk. */
const settleMs = 300;

/** Sends a load to the API, waits until everything was received, and counts what it cost. */
export async function deliver(stage: BenchStage, load: Load, expected: Expectation): Promise<Delivered> {
  const { generator, receiver } = stage.lab;
  const count = load.kind === 'closed' ? load.count : Math.round(load.perSecond * load.seconds);
  const accepted = count * (expected.webhooksPerEvent - (expected.excepted?.size ?? 0));
  const since = await receiver.call('position', null);
  const cpuBefore = stage.cpu();
  const result = await generator.call('run', load);
  // A run that is void already is not waited for.
  const isAccepted = result.statuses.every((status) => status === 202);
  await untilReceived(receiver, { since, accepted, ...(!isAccepted && { withinMs: 1_000 }) });
  await pause(settleMs);
  const cpu = difference(cpuBefore, stage.cpu());
  const received = await receiver.call('received', since);
  const deliveries = received.statuses.filter((status) => status === 200).length;
  const seconds = ((received.at.at(-1) ?? result.endedAt) - result.startedAt) / 1_000;
  return { load: result, received, cpu, deliveries, seconds, problems: await audit(result, received, expected) };
}

/** The usual figures of a load: CPU per delivery confirmed, in all and by process, and deliveries per second. */
export function deliveryFigures({ cpu, deliveries, seconds }: Delivered): Record<string, number> {
  const parts = Object.entries(cpu).map(([name, time]) => [`${name}_us`, time / deliveries]);
  return {
    ...(parts.length > 0 && { cpu_us: total(cpu) / deliveries }),
    ...Object.fromEntries(parts),
    per_second: deliveries / seconds,
  };
}
