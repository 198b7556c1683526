import { describeWith } from '@enterprise-api/testkit/toolchains';
import { describePrograms } from './describe-programs.ts';

describeWith(['java'], (command) => {
  describePrograms('Java', ['HttpClient.java'], { fileName: 'Calls.java', command, args: [] });
});
