import { createHmac, createSecretKey } from 'node:crypto';

const hmacs = 60_000;
const tolerated = 0.1;

/**
 * How fast the machine is at this moment: the CPU time of an HMAC-SHA256 over 1 KiB, in microseconds, over 60,000 of
 * them. A machine whose cores are shared is not always the same machine.
 */
export function calibrate(): number {
  const key = createSecretKey(Buffer.alloc(32, 7));
  const body = Buffer.alloc(1_024, 'x');
  const before = process.cpuUsage();
  for (let done = 0; done < hmacs; done++) createHmac('sha256', key).update(body).digest();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / hmacs;
}

/** Whether the machine has changed so much that what was measured in between says little. */
export function hasMoved(before: number, after: number): boolean {
  return Math.abs(after - before) > tolerated * Math.min(before, after);
}
