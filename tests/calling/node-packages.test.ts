import { describeWith } from '@enterprise-api/testkit/toolchains';
import { describePrograms } from './describe-programs.ts';

describeWith(['npm', 'downloads'], (npm) => {
  describePrograms('Node.js', ['axios.mjs'], {
    fileName: 'program.mjs',
    command: process.execPath,
    args: [],
    fetchPackages: (run) => run(npm, ['install', '--no-save', 'axios@1.21.1', 'axios-retry@4.5.0']),
  });
});
