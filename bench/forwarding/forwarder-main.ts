import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerCalls } from '@enterprise-api/testkit/peer-calls';
import { type ForwarderName, forwarders } from './forwarders.ts';

// One forwarder in a fresh process: none profits from code that another compiled, or pays for its garbage.
export type ForwarderCalls = { start: typeof start; cpuUs: (_: null) => number };

async function start({ name, upstream }: { name: ForwarderName; upstream: string }): Promise<number> {
  const forward = await forwarders[name](upstream);
  const server = createServer({ keepAliveTimeout: 60_000 }, forward);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

/** The CPU time of this process so far, microseconds. */
function cpuUs(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

answerCalls({ start, cpuUs } satisfies ForwarderCalls);
