import { describeWith } from '@enterprise-api/testkit/toolchains';
import { describeQuickStart } from './describe-quick-start.ts';

describeWith(['go'], (go) => {
  describeQuickStart('Go', {
    file: 'receiver.go',
    prepare: async (_folder, run) => {
      await run(go, ['build', '-o', 'receiver', 'receiver.go']);
      return { command: './receiver', args: [] };
    },
  });
});
