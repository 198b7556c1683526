import { maxHeaderSize } from 'node:http';

const nothing = Buffer.alloc(0);
const headEnd = '\r\n\r\n';
const informational = 'HTTP/1.1 1';
/** Number of bytes of a status line that distinguish an informational response from a final one. */
const tellingBytes = 'HTTP/1.1 100 '.length;
/** Informational responses may arrive until the deadline, so their total size needs a limit. */
const maxInformationalBytes = 1_024 ** 2;

type ByteSource = { read(size?: number): Buffer | null; destroy(error: Error): unknown };

/**
 * Removes informational responses (100 Continue, 103 Early Hints, …) that precede the final response. HTTP requires
 * clients to accept them at any time. undici closes the connection when a 100 arrives, so without this filter, an
 * endpoint that sends a 100 could never answer. A 101 stays in the stream, because it changes the protocol.
 */
export class InformationalFilter {
  /** True if any bytes, even informational ones, came since the last call of `arm`. */
  sawBytes = false;
  readonly #source: ByteSource;
  readonly #onTooMany: () => Error;
  #isArmed = false;
  #held: Buffer = nothing;
  #removedBytes = 0;

  /**
   * Replaces the source's `read` with the filter's.
   *
   * @param onTooMany creates the error that ends a connection with too many informational responses
   */
  constructor(source: ByteSource, onTooMany: () => Error) {
    const read = source.read.bind(source);
    this.#source = source;
    this.#onTooMany = onTooMany;
    source.read = (size) => (this.#isArmed && size === undefined ? this.#read(read) : read(size));
  }

  /**
   * Call this before each response. An unarmed filter passes all bytes to the parser. The parser refuses bytes that
   * arrive while no response is due.
   */
  arm(): void {
    this.#isArmed = true;
    this.#removedBytes = 0;
    this.sawBytes = false;
  }

  #read(read: ByteSource['read']): Buffer | null {
    for (let chunk = read(); chunk !== null; chunk = read()) {
      this.sawBytes = true;
      const rest = this.#strip(this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]));
      if (rest !== null) return rest;
    }
    return null;
  }

  /** Returns the bytes for the parser. Null if all bytes belong, or may still belong, to informational responses. */
  #strip(bytes: Buffer): Buffer | null {
    let rest = bytes;
    while (rest.length > 0) {
      const end = mayBeInformational(rest) ? rest.indexOf(headEnd) : 0;
      if (end === 0 || (end === -1 && rest.length > maxHeaderSize)) {
        this.#isArmed = false;
        this.#held = nothing;
        return rest;
      }
      if (end === -1) break;
      this.#removedBytes += end + headEnd.length;
      rest = rest.subarray(end + headEnd.length);
    }
    this.#held = rest;
    if (this.#removedBytes > maxInformationalBytes) this.#source.destroy(this.#onTooMany());
    return null;
  }
}

function mayBeInformational(bytes: Buffer): boolean {
  const start = bytes.toString('latin1', 0, tellingBytes);
  return start.length < tellingBytes
    ? start.startsWith(informational) || informational.startsWith(start)
    : /^HTTP\/1\.1 1(?!01)\d\d[ \r]/.test(start);
}
