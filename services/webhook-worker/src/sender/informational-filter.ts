import { type Failure, FailureError } from './failures.ts';

const headEnd = Buffer.from('\r\n\r\n');
const firstDigit = 'HTTP/1.1 '.length;
const one = '1'.charCodeAt(0);
/** As much of a status line as tells an interim answer from others. */
const tellingBytes = 'HTTP/1.1 100 '.length;
const maxHeadBytes = 16_384;
/** Interim answers without end last until the deadline; this bounds what they cost. */
const maxInterimBytes = 1_048_576;

const tooManyInterim: Failure = {
  code: 'response_invalid',
  message: 'The receiver sends interim answers without end.',
};

/** The bytes of an answer on their way to the parser. */
type ByteSource = { read(size?: number): Buffer | null; destroy(error: Error): unknown };

/**
 * Takes interim answers (100 Continue, 103 Early Hints, …) out of the stream before the final one. HTTP says that a
 * client must live with those it did not ask for; undici ends the connection at a 100, and a receiver whose server sends
 * one would never get a delivery accepted. A 101 is left: it is no interim answer but a change of protocol.
 */
export class InterimFilter {
  readonly #source: ByteSource;
  #armed = false;
  #held: Buffer | null = null;
  #taken = 0;

  /** Puts itself into the source's `read`. */
  constructor(source: ByteSource) {
    const read = source.read.bind(source);
    this.#source = source;
    source.read = (size) => (this.#armed && size === undefined ? this.#read(read) : read(size));
  }

  /** An answer comes next. What comes while no answer is due is the parser's to refuse. */
  arm(): void {
    this.#armed = true;
    this.#taken = 0;
  }

  #read(read: ByteSource['read']): Buffer | null {
    for (let chunk = read(); chunk !== null; chunk = read()) {
      const rest = this.#strip(this.#held === null ? chunk : Buffer.concat([this.#held, chunk]));
      if (rest !== null) return rest;
    }
    return null;
  }

  /** What remains for the parser; null when all of it was, or may yet become, an interim answer. */
  #strip(bytes: Buffer): Buffer | null {
    this.#held = null;
    let rest = bytes;
    while (rest.length > 0) {
      const end = mayBeInterim(rest) ? rest.indexOf(headEnd) : 0;
      if (end === 0 || (end === -1 && rest.length > maxHeadBytes)) {
        this.#armed = false;
        return rest;
      }
      if (end === -1) {
        this.#held = rest;
        return null;
      }
      this.#taken += end + headEnd.length;
      rest = rest.subarray(end + headEnd.length);
    }
    if (this.#taken > maxInterimBytes) this.#source.destroy(new FailureError(tooManyInterim));
    return null;
  }
}

function mayBeInterim(bytes: Buffer): boolean {
  // The usual case, and the cheap one.
  if (bytes.length >= tellingBytes && bytes[firstDigit] !== one) return false;
  const start = bytes.toString('latin1', 0, tellingBytes);
  return start.length < tellingBytes
    ? 'HTTP/1.1 1'.startsWith(start.slice(0, 10))
    : /^HTTP\/1\.1 1(?!01)\d\d[ \r]/.test(start);
}
