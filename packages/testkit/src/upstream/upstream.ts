import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { type ReadRequest, RequestReader } from '../receiver/request-reader.ts';

export interface UpstreamOptions {
  /** A port of 127.0.0.1; a free one by default. */
  port?: number;
  /** The bytes of an answer; by default 200 with a short JSON body. */
  answer?: (request: ReadRequest) => string | Buffer;
}

/** A service behind the API or behind an ingress, with all that its sockets have received. */
export interface Upstream extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
  /** The requests in the order in which they were complete. */
  readonly requests: readonly ReadRequest[];
  /** Every byte of every connection, each byte one character. */
  bytes(): string;
  /** Why bytes could not be read as requests; empty when all could. */
  readonly problems: readonly string[];
  forget(): void;
  close(): Promise<void>;
}

/** Listens on plain TCP, so that a test sees requests as they were written and not as an HTTP server understands them. */
export async function startUpstream({ port = 0, answer = usualAnswer }: UpstreamOptions = {}): Promise<Upstream> {
  const requests: ReadRequest[] = [];
  const problems: string[] = [];
  const chunks: Buffer[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.setNoDelay(true).on('close', () => sockets.delete(socket)));
    socket.on('error', () => undefined);
    const reader = new RequestReader();
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      try {
        reader.push(chunk);
        for (let request = reader.next(); request !== null; request = reader.next()) {
          requests.push(request);
          socket.write(answer(request));
        }
      } catch (error) {
        problems.push(error instanceof Error ? error.message : String(error));
        socket.destroy();
      }
    });
  });
  await once(server.listen(port, '127.0.0.1'), 'listening');
  const listeningPort = (server.address() as { port: number }).port;
  const close = async () => {
    for (const socket of sockets) socket.destroy();
    if (server.listening) await new Promise((resolve) => server.close(resolve));
  };
  return {
    port: listeningPort,
    url: `http://127.0.0.1:${listeningPort}`,
    requests,
    problems,
    bytes: () => Buffer.concat(chunks).toString('latin1'),
    forget: () => {
      requests.length = 0;
      problems.length = 0;
      chunks.length = 0;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

function usualAnswer({ method }: ReadRequest): string {
  const body = '{"served":true}';
  const head = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
  return method === 'HEAD' ? head : head + body;
}
