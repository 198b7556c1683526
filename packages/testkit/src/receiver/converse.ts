import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { type Answer, answerBytes } from './answers.ts';
import { type ReadRequest, RequestReader } from './request-reader.ts';

/** A TLS connection and the TCP connection under it, which alone can be reset. */
export interface Wire {
  tls: TLSSocket;
  tcp: Socket;
}

export interface Responders {
  respond: (request: ReadRequest) => Answer | Promise<Answer>;
  /** Answers as soon as the head of a request is there, before its body. Undefined: the body is awaited. */
  respondEarly: ((head: Omit<ReadRequest, 'body'>) => Answer | undefined) | undefined;
}

/** Answers the requests of one connection, one after the other. */
export function converse(wire: Wire, { respond, respondEarly }: Responders): void {
  const reader = new RequestReader();
  let answered = Promise.resolve();
  let isAnswered = false;
  wire.tls.setNoDelay(true).on('error', () => {});
  wire.tls.on('data', (chunk: Buffer) => {
    reader.push(chunk);
    for (let head = reader.head(); head !== null; head = reader.head()) {
      const early = isAnswered ? undefined : respondEarly?.(head);
      if (early !== undefined) void give(wire, early);
      isAnswered ||= early !== undefined;
      const request = reader.next();
      if (request === null) return;
      if (!isAnswered) {
        const answer = respond(request);
        answered = answered.then(async () => give(wire, await answer));
      }
      isAnswered = false;
    }
  });
}

async function give(wire: Wire, answer: Answer): Promise<void> {
  if (answer === 'hang') return;
  if (answer === 'end') wire.tls.end();
  else if (answer === 'reset') wire.tls.write('', () => wire.tcp.resetAndDestroy());
  else if (!('raw' in answer)) wire.tls.write(answerBytes(answer));
  else {
    const { raw, after = 'keep' } = answer;
    if (typeof raw === 'string' || Buffer.isBuffer(raw)) wire.tls.write(raw);
    else await pour(wire.tls, raw);
    if (after !== 'keep') await give(wire, after);
  }
}

/** Writes until the bytes or the connection end, no faster than the other side reads. */
async function pour(socket: TLSSocket, bytes: AsyncIterable<string | Buffer>): Promise<void> {
  for await (const chunk of bytes) {
    if (socket.destroyed) return;
    if (chunk.length === 0 || socket.write(chunk)) continue;
    await new Promise<void>((resolve) => {
      const goOn = () => {
        socket.off('drain', goOn).off('close', goOn);
        resolve();
      };
      socket.on('drain', goOn).on('close', goOn);
    });
  }
}
