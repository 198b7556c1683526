import { requireToolchain } from '@enterprise-api/testkit';
import { describePrograms } from './describe-programs.ts';

const command = requireToolchain('python');
describePrograms('Python', ['The standard library'], { fileName: 'program.py', command, args: ['-B'] });
