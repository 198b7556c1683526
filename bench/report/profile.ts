import { fileURLToPath } from 'node:url';

/** A CPU profile as Node.js writes it (`--cpu-prof`); times in microseconds. */
export interface CpuProfile {
  /** Every function on every path that led to it; the first is the root of all. */
  nodes: {
    id: number;
    callFrame: { functionName: string; url: string; lineNumber: number };
    children?: number[];
  }[];
  samples: number[];
  timeDeltas: number[];
}

/** The time that a function takes itself, without the functions it calls. */
export interface SelfTime {
  name: string;
  /** Of the time in which the process was not idle, 0 to 1. */
  share: number;
}

const project = fileURLToPath(new URL('../../', import.meta.url));

/** Functions by their own time, the costliest first, and the same by where they come from. */
export function selfTimes(profile: CpuProfile): { functions: SelfTime[]; origins: SelfTime[] } {
  const nodes = new Map(profile.nodes.map((node) => [node.id, node.callFrame]));
  const functions = new Map<string, number>();
  const origins = new Map<string, number>();
  let busy = 0;
  for (const [index, id] of profile.samples.entries()) {
    const frame = nodes.get(id);
    if (frame === undefined || frame.functionName === '(idle)') continue;
    const us = profile.timeDeltas[index] ?? 0;
    busy += us;
    const name = nameOf(frame);
    functions.set(name, (functions.get(name) ?? 0) + us);
    origins.set(originOf(frame), (origins.get(originOf(frame)) ?? 0) + us);
  }
  return { functions: ranked(functions, busy), origins: ranked(origins, busy) };
}

function ranked(times: ReadonlyMap<string, number>, busy: number): SelfTime[] {
  return [...times].map(([name, us]) => ({ name, share: us / busy })).sort((left, right) => right.share - left.share);
}

type Frame = CpuProfile['nodes'][number]['callFrame'];

export function nameOf({ functionName, url, lineNumber }: Frame): string {
  // `(garbage collector)` and `(program)`, which is everything outside of JavaScript, have no URL.
  if (url === '') return functionName;
  return `\`${functionName || '(anonymous)'}\` ${placeOf(url)}:${lineNumber + 1}`;
}

function placeOf(url: string): string {
  return url.replace(`file://${project}`, '').replace(/^.*node_modules\//, '');
}

/** The origin of a function: a package, Node.js, a folder of ours, or native code. */
export function originOf({ functionName, url }: Frame): string {
  if (url === '') return functionName.startsWith('(') ? functionName : 'native functions';
  if (url.startsWith('node:')) return 'Node.js';
  const installed = /node_modules\/((?:@[^/]+\/)?[^/]+)(?!.*node_modules\/)/.exec(url);
  return installed?.[1] ?? placeOf(url).split('/').slice(0, -1).join('/');
}
