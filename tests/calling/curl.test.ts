import { describeWith } from '@enterprise-api/testkit/toolchains';
import { describePrograms } from './describe-programs.ts';

describeWith(['curl'], () => {
  describePrograms('curl', ['curl'], { fileName: 'program.sh', command: '/bin/sh', args: ['-e'] });
});
