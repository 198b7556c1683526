/** The memory of smaller chunks is left to the garbage collector: freeing it here would cost more than it saves. */
const minBytes = 16 * 1_024;
/** What waits beyond this is left to it too: the list must not hold what nobody else needs any more. */
const maxWaiting = 64;

/**
 * Frees the memory of a body's chunks as soon as they have been written. Left to the garbage collector it gathers: a chunk
 * is 64 KiB, but the object that it hangs on is so small that V8 looks for garbage only when some 100 MB are waiting.
 *
 * A chunk is part of the buffer that its connection was read into, alone or beside other chunks and their framing. The
 * buffer can be freed once a chunk of another buffer has come, because the parser has read all of it then, and all chunks
 * so far have been written.
 */
export class WrittenChunks {
  readonly #isAllWritten: () => boolean;
  #latest: ArrayBufferLike | undefined;
  #isLatestFree = false;
  readonly #parsed: ArrayBuffer[] = [];

  /** @param isAllWritten whether the system has taken every byte of the chunks that came before */
  constructor(isAllWritten: () => boolean) {
    this.#isAllWritten = isAllWritten;
  }

  /** The next chunk has come, and has not been passed on yet. */
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

  /** The memory of an `ArrayBuffer` is freed when its bytes are transferred to another one, here to one of none. */
  #free(): void {
    for (const buffer of this.#parsed) buffer.transfer(0);
    this.#parsed.length = 0;
  }
}

/**
 * Whether a chunk's buffer is that of its connection alone. Node.js takes buffers of less than half its pool's size from
 * the pool, which everything in the process shares: two small reads that it joins are such a buffer.
 */
function hasOwnBuffer(chunk: Buffer): boolean {
  if (chunk.length < minBytes) return false;
  return chunk.length === chunk.buffer.byteLength || chunk.length >= Buffer.poolSize / 2;
}
