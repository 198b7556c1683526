import type { TLSSocket } from 'node:tls';
import type { Sample } from './calls.ts';
import { type RequestHead, readHead } from './request-head.ts';

const headEnd = Buffer.from('\r\n\r\n');
const nothing = Buffer.alloc(0);

const answers: Record<number, Buffer> = {
  200: Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'),
  503: Buffer.from('HTTP/1.1 503 Service Unavailable\r\nContent-Length: 4\r\n\r\nbusy'),
};

/** Returns the status to answer a whole request with; 0: no answer. `sample` copies the request, which costs time. */
export type OnRequest = (head: RequestHead, sample: () => Sample) => number;

/** Reads the requests of one connection and answers them. */
export function serveConnection(socket: TLSSocket, onRequest: OnRequest): void {
  let bytes: Buffer = nothing;
  let head: RequestHead | undefined;
  let headText = '';
  socket.on('data', (chunk: Buffer) => {
    bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk]);
    if (head === undefined) {
      const end = bytes.indexOf(headEnd);
      if (end === -1) return;
      headText = bytes.toString('latin1', 0, end);
      head = readHead(headText);
      bytes = bytes.subarray(end + headEnd.length);
    }
    if (bytes.length < head.contentLength) return;
    // Clients send one request at a time: these bytes are the body and nothing else.
    const body = bytes;
    const status = onRequest(head, () => ({ head: headText, body: new Uint8Array(body) }));
    bytes = nothing;
    head = undefined;
    const answer = answers[status];
    if (answer !== undefined) socket.write(answer);
  });
  socket.on('error', () => undefined);
}
