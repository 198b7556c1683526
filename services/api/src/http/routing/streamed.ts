import type { Response } from 'express';
import { requestContextOf } from '../server/request-context.ts';

export interface Sink {
  /** @returns false if the client reads too slowly; `drained()` then resolves once the client has caught up */
  write(text: string): boolean;
  /** Bytes written but still buffered in this process. */
  bufferedBytes(): number;
  drained(): Promise<void>;
  end(text?: string): void;
  /** Cuts the connection and drops the buffered bytes. */
  cut(): void;
}

export interface Streamed {
  readonly headers?: Readonly<Record<string, string>>;
  /** Exactly one of `start` and `cancel` is called. `closed` aborts when either side ends the connection. */
  start(sink: Sink, closed: AbortSignal): void;
  /** Called instead of `start` if the answer has no body: the request was a HEAD, or the client left. */
  cancel(): void;
}

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
