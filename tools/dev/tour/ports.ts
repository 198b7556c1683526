import { freePort, isFree } from '@enterprise-api/testkit';

export interface PortRequest {
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
export async function choosePorts(requests: readonly PortRequest[], say: (line: string) => void): Promise<number[]> {
  const chosen: number[] = requests.flatMap((request) => (request.given ? [request.given] : []));
  const ports: number[] = [];
  for (const request of requests) {
    const port = request.given ? await requireFree(request, request.given) : await findFree(request, chosen);
    if (request.given === undefined && port !== request.usual)
      say(`Port ${request.usual} is in use: using ${port} (${request.name}).`);
    chosen.push(port);
    ports.push(port);
  }
  return ports;
}

async function requireFree(request: PortRequest, port: number): Promise<number> {
  if (await isFree(request.host, port)) return port;
  throw new Error(`Port ${port} is in use: set ${request.name} to another one, or end the program that uses it.`);
}

async function findFree(request: PortRequest, chosen: readonly number[]): Promise<number> {
  if (request.given === 0) return await freePort();
  for (let port = request.usual; port < request.usual + 100; port += 10) {
    if (!chosen.includes(port) && (await isFree(request.host, port))) return port;
  }
  return await freePort();
}
