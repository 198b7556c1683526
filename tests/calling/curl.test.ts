import { requireToolchain } from '@enterprise-api/testkit';
import { describePrograms } from './describe-programs.ts';

requireToolchain('curl');
describePrograms('curl', ['curl'], { fileName: 'program.sh', command: '/bin/sh', args: ['-e'] });
