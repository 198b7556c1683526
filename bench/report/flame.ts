import { type CpuProfile, nameOf, originOf } from './profile.ts';
import { colourOf, legend, rect, svg, text } from './svg.ts';

/** A function called on one path: its own time and that of the functions it called there, in microseconds. */
interface Call {
  name: string;
  origin: string;
  total: number;
  calls: Call[];
}

const width = 1_400;
const margin = 12;
const top = 64;
const row = 17;
/** Bars narrower than this are left out, in pixels; a label needs space for a few letters. */
const narrowest = 1.5;
const readableFrom = 30;
const letter = 7;
const kinds = ['ours', 'packages', 'Node.js', 'native', 'collector'] as const;

/**
 * A flame graph: the functions on the stack, as wide as their share of the time in which the process was not idle.
 * Callers are above the functions they call; equal paths are one bar, the widest first. Each bar has its name and share
 * as a tooltip.
 */
export function flameGraph(profile: CpuProfile, title: string): string {
  const root = callTree(profile);
  const scale = (width - 2 * margin) / root.total;
  const bars: string[] = [];
  let rows = 0;
  const draw = (calls: readonly Call[], left: number, depth: number): void => {
    let x = left;
    for (const call of calls) {
      const wide = call.total * scale;
      if (wide < narrowest) break;
      rows = Math.max(rows, depth + 1);
      bars.push(bar(call, { x, y: top + depth * row, wide, share: call.total / root.total }));
      draw(call.calls, x, depth + 1);
      x += wide;
    }
  };
  draw(root.calls, margin, 0);
  return svg(width, top + rows * row + margin, title, [...legend(margin, 48, kinds), ...bars]);
}

function bar({ name, origin }: Call, { x, y, wide, share }: { x: number; y: number; wide: number; share: number }) {
  const label = name.replaceAll('`', '');
  const kind = kindOf(origin);
  const fill = colourOf(kinds.indexOf(kind));
  const hint = `${label}, ${(share * 100).toFixed(1)} %`;
  const box = rect({ x, y, width: wide, height: row - 1, fill, hint });
  if (wide < readableFrom) return box;
  const words = label.slice(0, Math.floor((wide - 6) / letter));
  return `${box}${text(x + 3, y + 12, words, { light: kind === 'ours' || kind === 'native' })}`;
}

function kindOf(origin: string): (typeof kinds)[number] {
  if (origin === '(garbage collector)') return 'collector';
  if (origin === 'Node.js') return 'Node.js';
  if (origin === 'native functions' || origin.startsWith('(')) return 'native';
  return /^(packages|services)\//.test(origin) ? 'ours' : 'packages';
}

/** The tree of calls with their times, without idle time. Equal calls at one place are merged. */
function callTree(profile: CpuProfile): Call {
  const own = new Map<number, number>();
  for (const [index, id] of profile.samples.entries()) {
    own.set(id, (own.get(id) ?? 0) + (profile.timeDeltas[index] ?? 0));
  }
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const callsOf = (ids: readonly number[]): Call[] => {
    const byName = Map.groupBy(
      ids.flatMap((id) => nodes.get(id) ?? []).filter(({ callFrame }) => callFrame.functionName !== '(idle)'),
      ({ callFrame }) => nameOf(callFrame),
    );
    const calls = [...byName].map(([name, alike]) => {
      const inner = callsOf(alike.flatMap(({ children }) => children ?? []));
      const self = alike.reduce((sum, { id }) => sum + (own.get(id) ?? 0), 0);
      const total = inner.reduce((sum, call) => sum + call.total, self);
      return { name, origin: originOf((alike[0] as (typeof alike)[number]).callFrame), total, calls: inner };
    });
    return calls.sort((left, right) => right.total - left.total);
  };
  const [root] = profile.nodes;
  const calls = callsOf(root?.children ?? []);
  return { name: 'all', origin: '', total: calls.reduce((sum, call) => sum + call.total, 0), calls };
}
