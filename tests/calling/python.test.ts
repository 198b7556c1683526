import { describeWith } from '@enterprise-api/testkit/toolchains';
import { describePrograms } from './describe-programs.ts';

describeWith(['python'], (command) => {
  describePrograms('Python', ['The standard library'], { fileName: 'program.py', command, args: ['-B'] });
});
