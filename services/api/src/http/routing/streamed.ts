import type { Response } from 'express';
import { requestContextOf } from '../server/request-context.ts';

/** Where the body of an answer is written piece by piece. */
export interface Sink {
  /** @returns false when the client does not read as fast: `drained` tells when it has caught up */
  write(text: string): boolean;
  /** Bytes that were written and are still in this process. */
  bufferedBytes(): number;
  drained(): Promise<void>;
  end(text?: string): void;
  /** Cuts the connection: what is in this process is dropped. */
  cut(): void;
}

/** An answer whose body begins after the handler has returned, and lasts. */
export interface Streamed {
  /** Of the answer, besides those that every stream has. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Called at once, exactly one of the two. The signal aborts when the connection has ended, whoever ended it. */
  start(sink: Sink, closed: AbortSignal): void;
  /** The answer will have no body: its request was a HEAD, or the client has left. */
  cancel(): void;
}

/** @param response has its head */
export function sendStreamed(response: Response, streamed: Streamed): void {
  if (response.req.method === 'HEAD' || response.destroyed || response.req.socket.destroyed) {
    streamed.cancel();
    response.end();
    return;
  }
  const closed = new AbortController();
  response.once('close', () => closed.abort());
  response.flushHeaders();
  streamed.start(sinkOf(response), closed.signal);
}

function sinkOf(response: Response): Sink {
  const context = requestContextOf(response);
  const count = (text: string) => {
    context.bytesOut += Buffer.byteLength(text);
    return text;
  };
  return {
    write: (text) => response.write(count(text)),
    bufferedBytes: () => response.writableLength,
    drained: () => new Promise((resolve) => response.once('drain', resolve)),
    end: (text = '') => void response.end(count(text)),
    cut: () => response.destroy(),
  };
}
