import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { WrittenChunks } from './written-chunks.ts';

export interface RequestBodyOptions {
  /** A body that grows beyond this ends with {@link BodyTooLargeError}. */
  maxBytes: number;
  onChunk: (bytes: number) => void;
  /** The last byte has come. */
  onEnd: () => void;
  /** Whether the upstream's connection has taken all that was read from here. */
  isAllSent: () => boolean;
}

/** The body has turned out to be larger than allowed, after its first bytes went to the upstream. */
export class BodyTooLargeError extends Error {}

/**
 * The body of a request on its way to the upstream, read as fast as the upstream takes it. It stands between the two
 * because the client library destroys the stream that it reads from when the upstream fails: the request itself would
 * take the client's connection along, and nobody could answer any more.
 */
export class RequestBody extends Readable {
  readonly #request: IncomingMessage;
  readonly #options: RequestBodyOptions;
  readonly #writtenChunks: WrittenChunks;
  #bytes = 0;
  /** Whether we wait for the upstream to take what has come, rather than for the client. */
  isBlocked = true;

  constructor(request: IncomingMessage, options: RequestBodyOptions) {
    super();
    this.#request = request;
    this.#options = options;
    this.#writtenChunks = new WrittenChunks(() => this.readableLength === 0 && options.isAllSent());
    // The exchange learns of errors from the client library.
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
