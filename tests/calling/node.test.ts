import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { projectFolder } from '@enterprise-api/testkit';
import { describe, expect, it } from '@jest/globals';
import { describePrograms } from './describe-programs.ts';
import { readPagePrograms, runBySuites } from './programs.ts';

describePrograms('Node.js', ['The SDK', 'fetch.mjs', 'got.mjs', 'undici.mjs'], {
  fileName: 'program.mjs',
  command: process.execPath,
  args: [],
});

describe('the page and the folder of clients', () => {
  it('have no other programs than those that are run', () => {
    expect([...readPagePrograms().keys()]).toEqual(runBySuites.page);
    const files = readdirSync(join(projectFolder, 'examples/clients')).filter((name) => name !== 'README.md');
    expect(files.toSorted()).toEqual(runBySuites.files.toSorted());
  });
});
