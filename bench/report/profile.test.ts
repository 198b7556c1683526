import { describe, expect, it } from '@jest/globals';
import { type CpuProfile, selfTimes } from './profile.ts';

const frame = (functionName: string, url = '', lineNumber = 0) => ({ callFrame: { functionName, url, lineNumber } });

describe('self times', () => {
  it('are shares of the time that was not idle, by function and by origin', () => {
    const profile: CpuProfile = {
      nodes: [
        { id: 1, ...frame('(idle)') },
        { id: 2, ...frame('(garbage collector)') },
        { id: 3, ...frame('parse', 'file:///x/node_modules/a/node_modules/@scope/b/index.js', 9) },
        { id: 4, ...frame('', 'node:net', 4) },
        { id: 5, ...frame('writev') },
      ],
      samples: [1, 2, 3, 4, 3, 5],
      timeDeltas: [1_000, 100, 200, 300, 300, 100],
    };
    const { functions, origins } = selfTimes(profile);
    expect(functions).toEqual([
      { name: '`parse` @scope/b/index.js:10', share: 0.5 },
      { name: '`(anonymous)` node:net:5', share: 0.3 },
      { name: '(garbage collector)', share: 0.1 },
      { name: 'writev', share: 0.1 },
    ]);
    expect(origins.map(({ name }) => name)).toEqual(['@scope/b', 'Node.js', '(garbage collector)', 'native functions']);
  });
});
