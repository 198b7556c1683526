import { answerCalls } from '../processes/peer-calls.ts';
import { startReceiver } from './receiver.ts';
import type { ReceiverProcessCalls } from './receiver-process.ts';

let answered = Promise.withResolvers<void>();
answered.resolve();

const calls: ReceiverProcessCalls = {
  start: async (certificate) => {
    const respond = () => answered.promise.then(() => ({}));
    const { port } = await startReceiver({ certificate, respond });
    return { port };
  },
  hang: (hangs) => {
    if (hangs) answered = Promise.withResolvers();
    else answered.resolve();
  },
};
answerCalls(calls);
