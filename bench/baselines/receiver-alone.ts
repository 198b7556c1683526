import { cpuTimes } from '../measure/cpu.ts';
import { serveRequests } from '../measure/requests.ts';
import { addressOf } from '../stage/subscriptions.ts';
import type { Finding, RunContext } from '../workload.ts';
import { signedHeaders, usualBody } from './outbound.ts';

/**
 * B0: the generator straight to the receiver. It must be much faster than the product, or the receiver is the limit.
 */
export async function receiverAlone({ lab, sizes }: RunContext): Promise<Finding> {
  await lab.receiver.call('reset', null);
  const head = Object.entries(signedHeaders(usualBody)).map(([name, value]) => `${name}: ${value}`);
  const text = `POST /w/0 HTTP/1.1\r\nhost: receiver\r\n${head.join('\r\n')}\r\n\r\n${usualBody}`;
  const requests = [new Uint8Array(Buffer.from(text))];
  const target = { kind: 'closed', host: addressOf(0), port: lab.receiverPort, ca: lab.ca } as const;
  const load = { ...target, requests, connections: 50 };
  const { generator, receiver } = lab;
  const cpu = () => cpuTimes({ receiver: receiver.pid });
  await serveRequests({ generator, cpu }, { ...load, count: sizes.warmUp }, 200);
  const { figures, problems } = await serveRequests({ generator, cpu }, { ...load, count: sizes.direct }, 200);
  const { per_second: perSecond = Number.NaN, receiver_us: receiverUs = Number.NaN } = figures;
  return { figures: { per_second: perSecond, receiver_us: receiverUs }, problems };
}
