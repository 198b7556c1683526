import { describe, expect, it } from '@jest/globals';
import { describePrograms } from './describe-programs.ts';
import { readPrograms, runBySuites } from './programs.ts';

describePrograms('Node.js', ['The SDK', 'got', 'fetch', 'undici'], {
  fileName: 'program.mjs',
  command: process.execPath,
  args: [],
});

describe('docs/calling.md', () => {
  it('has no other programs than those that are run', () => {
    expect(readPrograms().map(({ title }) => title)).toEqual(expect.arrayContaining(runBySuites));
    expect(readPrograms()).toHaveLength(runBySuites.length);
  });
});
