const interimHead = Buffer.from('HTTP/1.1 100');
const headEnd = Buffer.from('\r\n\r\n');
const maxHeadBytes = 16_384;

/** The bytes of an answer on their way to the parser. */
type ByteSource = { read(size?: number): Buffer | null };

/**
 * Takes `100 Continue` heads out of the stream before an answer. HTTP says that a client must live with interim answers
 * that it did not ask for; undici passes the others over, but ends the connection at a 100, and a receiver whose server
 * sends one would never get a delivery accepted.
 */
export class ContinueFilter {
  #armed = false;
  #held: Buffer | null = null;

  /** Puts itself into the source's `read`. */
  constructor(source: ByteSource) {
    const read = source.read.bind(source);
    source.read = (size) => (this.#armed && size === undefined ? this.#read(read) : read(size));
  }

  /** An answer comes next. What comes while no answer is due is the parser's to refuse. */
  arm(): void {
    this.#armed = true;
  }

  #read(read: ByteSource['read']): Buffer | null {
    for (;;) {
      const chunk = read();
      if (chunk === null) return null;
      const rest = this.#strip(this.#held === null ? chunk : Buffer.concat([this.#held, chunk]));
      if (rest !== null) return rest;
    }
  }

  /** What remains for the parser; null when all of it was, or may yet become, a 100. */
  #strip(bytes: Buffer): Buffer | null {
    this.#held = null;
    let rest = bytes;
    while (rest.length > 0) {
      const compared = Math.min(rest.length, interimHead.length);
      const end = rest.indexOf(headEnd);
      const isInterim = rest.compare(interimHead, 0, compared, 0, compared) === 0;
      if (!isInterim || (end === -1 && rest.length > maxHeadBytes)) {
        this.#armed = false;
        return rest;
      }
      if (end === -1) {
        this.#held = rest;
        return null;
      }
      rest = rest.subarray(end + headEnd.length);
    }
    return null;
  }
}
