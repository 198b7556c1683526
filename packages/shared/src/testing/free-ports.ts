import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/**
 * Asks the system for ports of 127.0.0.1 that nobody uses. All are held while asking, so they differ from each other;
 * afterwards they are free, and whoever binds one must be ready to find it taken.
 */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  try {
    return await Promise.all(
      servers.map(async (server) => {
        await once(server.listen(0, '127.0.0.1'), 'listening');
        return (server.address() as AddressInfo).port;
      }),
    );
  } finally {
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  }
}

/** One port of {@link freePorts}. */
export async function freePort(): Promise<number> {
  const [port] = await freePorts(1);
  if (port === undefined) throw new Error('The system gave no port.');
  return port;
}
