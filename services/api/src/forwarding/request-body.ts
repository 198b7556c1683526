import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { WrittenChunks } from './written-chunks.ts';

export interface RequestBodyOptions {
  maxBytes: number;
  onChunk: (bytes: number) => void;
  onEnd: () => void;
  /** Whether the upstream's connection has taken all bytes read from this stream. */
  isAllSent: () => boolean;
}

/** The body exceeded the limit after its first bytes had been sent to the upstream. */
export class BodyTooLargeError extends Error {}

/**
 * Streams a request's body to the upstream, as fast as the upstream reads. undici reads this stream instead of the
 * request: if the upstream fails, undici destroys the stream it reads. Destroying the request would close the client's
 * connection, so no answer could be sent.
 */
export class RequestBody extends Readable {
  readonly #request: IncomingMessage;
  readonly #options: RequestBodyOptions;
  readonly #writtenChunks: WrittenChunks;
  #bytes = 0;
  /** True while we wait for the upstream to read, false while we wait for the client. */
  isBlocked = true;

  constructor(request: IncomingMessage, options: RequestBodyOptions) {
    super();
    this.#request = request;
    this.#options = options;
    this.#writtenChunks = new WrittenChunks(() => this.readableLength === 0 && options.isAllSent());
    // The HTTP client library reports errors to the exchange. Without this listener, Node.js would also throw them.
    this.on('error', () => undefined);
    request.on('data', this.#onData).on('end', this.#onEnd).pause();
  }

  override _read(): void {
    this.isBlocked = false;
    this.#request.resume();
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#request.off('data', this.#onData).off('end', this.#onEnd);
    callback(error);
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#bytes += chunk.length;
    this.#writtenChunks.next(chunk);
    this.#options.onChunk(chunk.length);
    if (this.#bytes > this.#options.maxBytes) {
      this.#request.pause();
      this.destroy(new BodyTooLargeError('The body is larger than allowed.'));
    } else if (!this.push(chunk)) {
      this.isBlocked = true;
      this.#request.pause();
    }
  };

  readonly #onEnd = (): void => {
    this.push(null);
    this.#options.onEnd();
  };
}
