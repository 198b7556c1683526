import type { Peer } from '@enterprise-api/testkit';
import type { ClosedLoad, GeneratorCalls, LoadResult } from '../generator/load.ts';
import { type CpuTimes, difference, total } from './cpu.ts';

export interface Served {
  load: LoadResult;
  figures: Record<string, number>;
  problems: string[];
}

/** Sends requests that are complete when they are answered, and measures their cost. */
export async function serveRequests(
  { generator, cpu }: { generator: Peer<GeneratorCalls>; cpu: () => CpuTimes },
  load: ClosedLoad,
  expectedStatus: number,
): Promise<Served> {
  const before = cpu();
  const result = await generator.call('run', load);
  const used = difference(before, cpu());
  const cpuUs = total(used) / load.count;
  const others = result.statuses.filter((status) => status !== expectedStatus).length;
  return {
    load: result,
    figures: {
      cpu_us: cpuUs,
      ...Object.fromEntries(Object.entries(used).map(([name, time]) => [`${name}_us`, time / load.count])),
      per_core: 1e6 / cpuUs,
      per_second: load.count / ((result.endedAt - result.startedAt) / 1_000),
    },
    problems: others > 0 ? [`${others} of ${load.count} requests were not answered ${expectedStatus}`] : [],
  };
}
