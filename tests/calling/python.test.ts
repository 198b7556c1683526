import { describeWith } from '@enterprise-api/testkit/toolchains';
import { describePrograms } from './describe-programs.ts';

describeWith(['python'], (command) => {
  describePrograms('Python', ['Python'], { fileName: 'program.py', command, args: ['-B'] });
});
