import { requireToolchain } from '@enterprise-api/testkit';
import { describePrograms } from './describe-programs.ts';

requireToolchain('downloads');
const npm = requireToolchain('npm');
describePrograms('Node.js', ['axios with axios-retry'], {
  fileName: 'program.mjs',
  command: process.execPath,
  args: [],
  fetchPackages: (run) => run(npm, ['install', '--no-save', 'axios@1.21.1', 'axios-retry@4.5.0']),
});
