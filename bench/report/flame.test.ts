import { describe, expect, it } from '@jest/globals';
import { flameGraph } from './flame.ts';
import type { CpuProfile } from './profile.ts';

const frame = (functionName: string, url = '') => ({ callFrame: { functionName, url, lineNumber: 0 } });

/** `main` calls `parse` from two places and `send` from one; the process is idle half of the time. */
const profile: CpuProfile = {
  nodes: [
    { id: 1, ...frame('(root)'), children: [2, 3] },
    { id: 2, ...frame('(idle)') },
    { id: 3, ...frame('main', 'file:///x/services/a/main.ts'), children: [4, 5, 6] },
    { id: 4, ...frame('parse', 'file:///x/node_modules/p/index.js') },
    { id: 5, ...frame('send<1>', 'node:net') },
    { id: 6, ...frame('parse', 'file:///x/node_modules/p/index.js') },
  ],
  samples: [2, 3, 4, 5, 6],
  timeDeltas: [1_000, 100, 200, 300, 400],
};

/** The bars of the graph: tooltip, position and width in pixels. */
function barsOf(picture: string) {
  const bars = picture.matchAll(/<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)"[^>]*><title>([^<]*)<\/title>/g);
  return [...bars].map(([, x, y, width, hint]) => ({ x: Number(x), y: Number(y), width: Number(width), hint }));
}

describe('a flame graph', () => {
  const bars = barsOf(flameGraph(profile, 'Where the time went'));

  it('has a bar for each path, with its share of the time that was not idle', () => {
    expect(bars.map(({ hint }) => hint)).toEqual([
      expect.stringMatching(/^main .*main\.ts:1, 100\.0 %$/),
      expect.stringMatching(/^parse .*, 60\.0 %$/),
      'send&lt;1&gt; node:net:1, 30.0 %',
    ]);
  });

  it('draws the functions that are called below their caller, side by side, as wide as their time', () => {
    const [main, parse, send] = bars as [(typeof bars)[0], (typeof bars)[0], (typeof bars)[0]];
    expect(parse.y).toBeGreaterThan(main.y);
    expect([parse.x, send.y]).toEqual([main.x, parse.y]);
    expect(send.x).toBeCloseTo(parse.x + parse.width, 0);
    expect(parse.width / main.width).toBeCloseTo(0.6, 2);
  });
});
