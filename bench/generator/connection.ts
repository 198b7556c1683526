import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Target } from './load.ts';

const headEnd = Buffer.from('\r\n\r\n');
const nothing = Buffer.alloc(0);
const contentLength = /\r\ncontent-length: *(\d+)/i;

/** Called with an answer: its status (0 when the connection was lost), and its bytes, head and body. */
export type OnAnswer = (status: number, bytes: Buffer) => void;

/** A kept-alive HTTP/1.1 connection with one request at a time. It does as little as a client can. */
export class Connection {
  readonly #target: Target;
  #socket: Socket | undefined;
  #bytes: Buffer = nothing;
  #onAnswer: OnAnswer | undefined;

  constructor(target: Target) {
    this.#target = target;
  }

  send(request: Uint8Array, onAnswer: OnAnswer): void {
    this.#onAnswer = onAnswer;
    this.#socket ??= this.#open();
    this.#socket.write(request);
  }

  destroy(): void {
    this.#socket?.destroy();
  }

  #open(): Socket {
    const { host = '127.0.0.1', port, ca } = this.#target;
    const socket = ca === undefined ? connectPlain(port, host) : connectTls({ host, port, ca, servername: '' });
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.#socket = undefined;
      this.#answer(0, nothing);
    });
    return socket;
  }

  #receive(chunk: Buffer): void {
    const bytes = this.#bytes.length === 0 ? chunk : Buffer.concat([this.#bytes, chunk]);
    const end = bytes.indexOf(headEnd);
    const head = end === -1 ? '' : bytes.toString('latin1', 0, end);
    const length = Number(contentLength.exec(head)?.[1] ?? 0);
    if (end === -1 || bytes.length < end + headEnd.length + length) {
      this.#bytes = bytes;
      return;
    }
    this.#bytes = nothing;
    this.#answer(Number(head.slice(9, 12)), bytes);
  }

  #answer(status: number, bytes: Buffer): void {
    const onAnswer = this.#onAnswer;
    this.#onAnswer = undefined;
    onAnswer?.(status, bytes);
  }
}
