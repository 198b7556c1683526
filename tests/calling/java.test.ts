import { describeWith } from '@enterprise-api/testkit/toolchains';
import { describePrograms } from './describe-programs.ts';

describeWith(['java'], (command) => {
  describePrograms('Java', ['HttpClient'], { fileName: 'Calls.java', command, args: [] });
});
