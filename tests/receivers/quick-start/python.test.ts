import { describeWith } from '@enterprise-api/testkit/toolchains';
import { describeQuickStart } from './describe-quick-start.ts';

describeWith(['python'], (python) => {
  describeQuickStart('Python', {
    file: 'receiver.py',
    prepare: async () => ({ command: python, args: ['receiver.py'] }),
  });
});
