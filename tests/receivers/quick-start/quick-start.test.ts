import { describeWith } from '@enterprise-api/testkit/toolchains';
import { describeQuickStart } from './describe-quick-start.ts';

describeQuickStart('Node.js', {
  file: 'receiver.mjs',
  prepare: async () => ({ command: process.execPath, args: ['receiver.mjs'] }),
});

describeWith(['python'], (python) => {
  describeQuickStart('Python', {
    file: 'receiver.py',
    prepare: async () => ({ command: python, args: ['receiver.py'] }),
  });
});

describeWith(['go'], (go) => {
  describeQuickStart('Go', {
    file: 'receiver.go',
    prepare: async (_folder, run) => {
      await run(go, ['build', '-o', 'receiver', 'receiver.go']);
      return { command: './receiver', args: [] };
    },
  });
});
