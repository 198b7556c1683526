import { freePort, isFree } from '@enterprise-api/testkit';

export interface PortWish {
  /** The variable that sets it, for messages. */
  name: string;
  host: string;
  /** From the environment: then it is this one or none. 0 asks for any. */
  given: number | undefined;
  /** Taken when nothing is given and it is free. */
  usual: number;
}

/**
 * Finds ports for listeners, none twice. A usual port that is busy is replaced by one that is not, with a word about
 * it; a given one that is busy is an error.
 */
export async function choosePorts(wishes: readonly PortWish[], say: (line: string) => void): Promise<number[]> {
  const chosen: number[] = wishes.flatMap((wish) => (wish.given ? [wish.given] : []));
  const ports: number[] = [];
  for (const wish of wishes) {
    const port = wish.given ? await requireFree(wish, wish.given) : await findFree(wish, chosen);
    if (wish.given === undefined && port !== wish.usual)
      say(`Port ${wish.usual} is in use: taking ${port} (${wish.name}).`);
    chosen.push(port);
    ports.push(port);
  }
  return ports;
}

async function requireFree(wish: PortWish, port: number): Promise<number> {
  if (await isFree(wish.host, port)) return port;
  throw new Error(`Port ${port} is in use: set ${wish.name} to another one, or end the program that holds it.`);
}

async function findFree(wish: PortWish, taken: readonly number[]): Promise<number> {
  if (wish.given === 0) return await freePort();
  for (let port = wish.usual; port < wish.usual + 100; port += 10) {
    if (!taken.includes(port) && (await isFree(wish.host, port))) return port;
  }
  return await freePort();
}
