import { once } from 'node:events';
import { connect } from 'node:net';

const chunk = Buffer.alloc(64 * 1024, 'x');

/** Reads an answer of this many bytes over a new connection. @returns when the last byte has come */
export async function download(port: number, path: string, headers: readonly string[], bytes: number): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  socket.write(head('GET', path, headers));
  let received = 0;
  for await (const data of socket) {
    received += (data as Buffer).length;
    // The head is far smaller than a chunk: who has more than the body has the head too.
    if (received > bytes) break;
  }
  if (received <= bytes) throw new Error(`The answer ended after ${received} of ${bytes} bytes.`);
}

/** Sends a body of this many bytes over a new connection. @returns when the answer has come */
export async function upload(port: number, path: string, headers: readonly string[], bytes: number): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  const answered = once(socket, 'data');
  socket.write(head('POST', path, [...headers, `Content-Length: ${bytes}`]));
  for (let left = bytes; left > 0; left -= chunk.length) {
    if (!socket.write(chunk.subarray(0, Math.min(left, chunk.length)))) await once(socket, 'drain');
  }
  const [answer] = await answered;
  socket.destroy();
  if (!String(answer).startsWith('HTTP/1.1 2'))
    throw new Error(`The upload was answered ${String(answer).slice(0, 40)}`);
}

function head(method: string, path: string, headers: readonly string[]): string {
  return `${[`${method} ${path} HTTP/1.1`, 'Host: bench', ...headers].join('\r\n')}\r\n\r\n`;
}
