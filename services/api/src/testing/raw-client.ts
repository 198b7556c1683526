import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface RawAnswer {
  /** 0 when the connection was closed without one. */
  status: number;
  head: string;
  body: string;
}

export interface RawClient {
  /** Sends the bytes of one request over a kept-alive connection that no other request uses meanwhile. Rejects without an answer. */
  exchange(request: Buffer): Promise<RawAnswer>;
  /** Sends bytes, half-closes the connection, and returns all text received until the server closes it too. */
  cutOff(bytes: Buffer): Promise<string>;
  close(): void;
}

/** Longer than any answer may take, and shorter than the server's timeouts for slow clients. */
const hangsAfterMs = 8_000;

/** A client that sends exactly the bytes that it is given, many requests a second. */
export function createRawClient(listenerUrl: string): RawClient {
  const { hostname, port } = new URL(listenerUrl);
  const idle: Socket[] = [];
  const all = new Set<Socket>();
  const open = async (): Promise<Socket> => {
    for (let socket = idle.pop(); socket !== undefined; socket = idle.pop()) if (socket.writable) return socket;
    const socket = connect(Number(port), hostname).setNoDelay(true);
    all.add(socket.on('close', () => all.delete(socket)).on('error', () => undefined));
    await once(socket, 'connect');
    return socket;
  };
  return {
    exchange: async (request) => {
      const socket = await open();
      const answer = await readAnswer(socket, request);
      const mayStay = answer.status !== 0 && !/\r\nconnection: close\r\n/i.test(answer.head);
      if (mayStay) idle.push(socket);
      else socket.destroy();
      return answer;
    },
    cutOff: async (bytes) => {
      const socket = connect(Number(port), hostname);
      const timer = setTimeout(() => socket.destroy(new Error(`Not closed within ${hangsAfterMs} ms.`)), hangsAfterMs);
      const chunks: Buffer[] = [];
      try {
        socket.end(bytes);
        for await (const chunk of socket) chunks.push(chunk as Buffer);
      } catch (error) {
        // A server that closes while bytes are on their way resets the connection.
        if ((error as NodeJS.ErrnoException).code !== 'ECONNRESET' && (error as NodeJS.ErrnoException).code !== 'EPIPE')
          throw error;
      } finally {
        clearTimeout(timer);
      }
      return Buffer.concat(chunks).toString('latin1');
    },
    close: () => {
      for (const socket of all) socket.destroy();
    },
  };
}

/** Sends bytes as they are, and returns all text received until the server closes the connection. */
export async function sendRaw(listenerUrl: string, text: string | Buffer): Promise<string> {
  const { hostname, port } = new URL(listenerUrl);
  const socket = connect(Number(port), hostname);
  const chunks: Buffer[] = [];
  socket.write(text);
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('latin1');
}

function readAnswer(socket: Socket, request: Buffer): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    let bytes: Buffer = Buffer.alloc(0);
    const end = (answer: RawAnswer) => {
      clearTimeout(timer);
      socket.off('data', onData).off('close', onClose);
      resolve(answer);
    };
    const onData = (chunk: Buffer) => {
      bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk]);
      const answer = parseAnswer(bytes);
      if (answer !== null) end(answer);
    };
    const onClose = () => end({ status: 0, head: '', body: bytes.toString('latin1') });
    const timer = setTimeout(() => {
      socket.destroy();
      reject(new Error(`No answer within ${hangsAfterMs} ms.`));
    }, hangsAfterMs);
    socket.on('data', onData).on('close', onClose);
    socket.write(request);
  });
}

/** The final answer in these bytes, interim ones skipped; null when it is not complete. */
function parseAnswer(bytes: Buffer): RawAnswer | null {
  const end = bytes.indexOf('\r\n\r\n');
  if (end === -1) return null;
  const head = bytes.toString('latin1', 0, end + 2);
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1] ?? Number.NaN);
  const rest = bytes.subarray(end + 4);
  if (status >= 100 && status < 200) return parseAnswer(rest);
  const length = Number(/\r\ncontent-length: (\d+)\r\n/i.exec(head)?.[1] ?? 0);
  return rest.length < length ? null : { status, head, body: rest.toString('utf8', 0, length) };
}
