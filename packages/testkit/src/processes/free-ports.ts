import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Outside of what Linux (32768 to 60999) and macOS (49152 to 65535) give to whoever connects or listens without a wish:
 * of those, a test with a thousand connections takes one before the process it was meant for binds it.
 */
const firstPort = 20_000;
const portCount = 12_000;

/** Each process begins somewhere else and gives no port twice, so that test files side by side do not meet. */
let next = Math.floor(Math.random() * portCount);

/**
 * Ports of 127.0.0.1 that nobody uses, each another one. Afterwards they are free, and whoever binds one must be ready
 * to find it taken.
 */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  for (let tries = 0; ports.length < count; tries++) {
    if (tries === portCount) throw new Error('No port is free.');
    const port = firstPort + next;
    next = (next + 1) % portCount;
    if (await isFree('127.0.0.1', port)) ports.push(port);
  }
  return ports;
}

/** One port of {@link freePorts}. */
export async function freePort(): Promise<number> {
  const [port = 0] = await freePorts(1);
  return port;
}

/** Whether this port of this host can be listened on. */
export async function isFree(host: string, port: number): Promise<boolean> {
  const server = createServer();
  try {
    await once(server.listen({ host, port, exclusive: true }), 'listening');
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false;
    throw error;
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
}
