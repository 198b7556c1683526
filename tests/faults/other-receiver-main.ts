import { type KeyPairPem, startReceiver } from '@enterprise-api/testkit';
import type { Instruction } from './other-receiver.ts';

let hanging = Promise.withResolvers<void>();
hanging.resolve();
const respond = async () => {
  await hanging.promise;
  return {};
};
const start = async (certificate: KeyPairPem) => process.send?.((await startReceiver({ certificate, respond })).port);

process.on('message', (instruction: Instruction) => {
  if ('certificate' in instruction) void start(instruction.certificate);
  else if (instruction.hang) hanging = Promise.withResolvers();
  else hanging.resolve();
});
process.on('disconnect', () => process.exit());
