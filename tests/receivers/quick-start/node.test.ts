import { describeQuickStart } from './describe-quick-start.ts';

describeQuickStart('Node.js', {
  file: 'receiver.mjs',
  prepare: async () => ({ command: process.execPath, args: ['receiver.mjs'] }),
});
