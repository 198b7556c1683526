import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { until } from '@enterprise-api/testkit';

/** One connection that an upstream has accepted, and all bytes that came over it. */
interface UpstreamConnection {
  readonly socket: Socket;
  /** Each character is one byte. */
  readonly received: string;
  readonly isClosed: boolean;
}

export interface RawUpstream {
  readonly url: string;
  /** Every connection so far, in order. */
  readonly connections: readonly UpstreamConnection[];
  /** All bytes of all connections. */
  received(): string;
  /** The connection with this index, once it has sent text that matches. */
  awaitRequest(pattern: RegExp, index?: number): Promise<UpstreamConnection>;
  close(): Promise<void>;
}

/** Called with each chunk of a connection, and all that came before. */
export type Behaviour = (connection: UpstreamConnection, index: number) => void;

/** An upstream that sees the bytes of the wire, and answers with whatever bytes a test gives it. */
export async function startRawUpstream(onData: Behaviour = () => undefined): Promise<RawUpstream> {
  const connections: { socket: Socket; received: string; isClosed: boolean }[] = [];
  const server = createServer((socket) => {
    const connection = { socket, received: '', isClosed: false };
    const index = connections.push(connection) - 1;
    socket.on('error', () => undefined);
    socket.on('close', () => {
      connection.isClosed = true;
    });
    socket.on('data', (chunk) => {
      connection.received += chunk.toString('latin1');
      onData(connection, index);
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections,
    received: () => connections.map(({ received }) => received).join(''),
    awaitRequest: async (pattern, index = 0) => {
      await until(`the upstream has received ${pattern}`, () => pattern.test(connections[index]?.received ?? ''));
      return connections[index] as UpstreamConnection;
    },
    close: async () => {
      for (const { socket } of connections) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Sends these bytes once the head of a request has come, for each request of a connection. */
export function answers(...replies: readonly string[]): Behaviour {
  const answered = new Map<UpstreamConnection, number>();
  let next = 0;
  return (connection) => {
    const heads = connection.received.split('\r\n\r\n').length - 1;
    for (let count = answered.get(connection) ?? 0; count < heads; count++) {
      connection.socket.write(Buffer.from(replies[Math.min(next++, replies.length - 1)] ?? '', 'latin1'));
      answered.set(connection, count + 1);
    }
  };
}

/** An answer with this body, kept alive. */
export function ok(body = '{}', ...headers: readonly string[]): string {
  return [`HTTP/1.1 200 OK`, `Content-Length: ${body.length}`, ...headers, '', body].join('\r\n');
}
