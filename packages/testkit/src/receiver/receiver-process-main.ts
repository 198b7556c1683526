import { answerCalls } from '../processes/peer-calls.ts';
import { startReceiver } from './receiver.ts';
import type { ReceiverProcessCalls } from './receiver-process.ts';

let answered = Promise.withResolvers<void>();
answered.resolve();

const calls: ReceiverProcessCalls = {
  start: async (options) => {
    const receiver = await startReceiver(options);
    receiver.respond(() => {
      receiver.requests.length = 0;
      return answered.promise.then(() => ({}));
    });
    return { port: receiver.port };
  },
  hang: (hangs) => {
    if (hangs) answered = Promise.withResolvers();
    else answered.resolve();
  },
};
answerCalls(calls);
