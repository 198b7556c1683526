import { freePort, isFree } from '@enterprise-api/testkit';

export interface PortWish {
  /** The variable that sets it, for messages. */
  name: string;
  host: string;
  /** From the environment: no other port is used. 0 asks for any free port. */
  given: number | undefined;
  /** Used when no port is given and this one is free. */
  usual: number;
}

/**
 * Chooses a different port for each listener. A usual port that is in use is replaced by a free one, and `say` tells it;
 * a given port that is in use is an error.
 */
export async function choosePorts(wishes: readonly PortWish[], say: (line: string) => void): Promise<number[]> {
  const chosen: number[] = wishes.flatMap((wish) => (wish.given ? [wish.given] : []));
  const ports: number[] = [];
  for (const wish of wishes) {
    const port = wish.given ? await requireFree(wish, wish.given) : await findFree(wish, chosen);
    if (wish.given === undefined && port !== wish.usual)
      say(`Port ${wish.usual} is in use: using ${port} (${wish.name}).`);
    chosen.push(port);
    ports.push(port);
  }
  return ports;
}

async function requireFree(wish: PortWish, port: number): Promise<number> {
  if (await isFree(wish.host, port)) return port;
  throw new Error(`Port ${port} is in use: set ${wish.name} to another one, or end the program that uses it.`);
}

async function findFree(wish: PortWish, chosen: readonly number[]): Promise<number> {
  if (wish.given === 0) return await freePort();
  for (let port = wish.usual; port < wish.usual + 100; port += 10) {
    if (!chosen.includes(port) && (await isFree(wish.host, port))) return port;
  }
  return await freePort();
}
