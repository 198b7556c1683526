import { describeWith } from '@enterprise-api/testkit/toolchains';
import { describePrograms } from './describe-programs.ts';

describeWith(['go'], (command) => {
  describePrograms('Go', ['Go'], { fileName: 'main.go', command, args: ['run'] });
});
