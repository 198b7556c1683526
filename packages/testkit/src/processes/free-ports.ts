import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Outside of the ephemeral ports of Linux (32768 to 60999) and macOS (49152 to 65535): a test with a thousand
 * connections would use one of those before the process that it is meant for listens on it.
 */
const firstPort = 20_000;
const portCount = 12_000;

/** Each process begins at a random port and returns none twice, so that parallel test files get different ones. */
let next = Math.floor(Math.random() * portCount);

/**
 * Different ports of 127.0.0.1 on which no process listens. They are not reserved: another process may bind one first.
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
