import { inParallel } from '@enterprise-api/testkit';
import { answerCalls } from '@enterprise-api/testkit/peer-calls';
// oxlint-disable-next-line no-restricted-imports -- a baseline: what sending costs with nothing around it
import { Agent } from 'undici';
import { type Outbound, signedHeaders, usualBody } from './outbound.ts';

const concurrency = 100;

// B1: a loop that signs and sends, and stores nothing: the lower bound of any delivery.
export type DirectCalls = { deliver: (outbound: Outbound) => Promise<void> };
answerCalls({ deliver } satisfies DirectCalls);

let agent: Agent | undefined;

async function deliver({ urls, ca, count }: Outbound): Promise<void> {
  agent ??= new Agent({ connections: 20, pipelining: 1, connect: { ca } });
  const sender = agent;
  const targets = urls.map((url) => new URL(url));
  const numbers = Array.from({ length: count }).keys();
  await inParallel(numbers, concurrency, (number) => dispatch(sender, targets[number % targets.length] as URL));
}

function dispatch(sender: Agent, { origin, pathname: path }: URL): Promise<void> {
  return new Promise((resolve, reject) => {
    const options = { origin, path, method: 'POST', headers: signedHeaders(usualBody), body: usualBody } as const;
    sender.dispatch(options, {
      onRequestStart: () => undefined,
      onResponseStart: (_controller, status) => {
        if (status !== 200) reject(new Error(`The receiver answered ${status}.`));
      },
      onResponseData: () => undefined,
      onResponseEnd: () => resolve(),
      onResponseError: (_controller, error) => reject(error),
    });
  });
}
