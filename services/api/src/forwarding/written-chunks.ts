/** Smaller chunks are left to the garbage collector, because freeing them here would cost more than it saves. */
const minBytes = 16 * 1_024;
/** Further buffers are left to the garbage collector, because a longer list would keep unneeded memory alive. */
const maxWaiting = 64;

/**
 * Frees the memory of a body's chunks once they are written. Otherwise the memory accumulates. A chunk takes 64 KiB,
 * but its object is tiny. V8 collects chunks only after about 100 MB.
 *
 * A chunk is part of the buffer that its connection was read into. The buffer may also contain other chunks and their
 * framing. Once a chunk of another buffer arrives, the parser has read the whole earlier buffer. The earlier buffer can
 * be freed once all chunks so far are written.
 */
export class WrittenChunks {
  readonly #isAllWritten: () => boolean;
  #latest: ArrayBufferLike | undefined;
  #isLatestFree = false;
  readonly #parsed: ArrayBuffer[] = [];

  /** @param isAllWritten whether the operating system took every byte of the earlier chunks */
  constructor(isAllWritten: () => boolean) {
    this.#isAllWritten = isAllWritten;
  }

  next(chunk: Buffer): void {
    const { buffer } = chunk;
    if (buffer !== this.#latest) {
      if (this.#isLatestFree && this.#parsed.length < maxWaiting) this.#parsed.push(this.#latest as ArrayBuffer);
      this.#latest = buffer;
      this.#isLatestFree = false;
    }
    this.#isLatestFree ||= hasOwnBuffer(chunk);
    if (this.#parsed.length > 0 && this.#isAllWritten()) this.#free();
  }

  /** Transferring an `ArrayBuffer` to one of zero bytes frees its memory. */
  #free(): void {
    for (const buffer of this.#parsed) buffer.transfer(0);
    this.#parsed.length = 0;
  }
}

/**
 * Whether only this connection uses the chunk's buffer. Node.js takes buffers below half its pool size from a pool that
 * the whole process shares. Node.js also joins two small reads in a pooled buffer.
 */
function hasOwnBuffer(chunk: Buffer): boolean {
  if (chunk.length < minBytes) return false;
  return chunk.length === chunk.buffer.byteLength || chunk.length >= Buffer.poolSize / 2;
}
