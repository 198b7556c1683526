import { TextDecoder } from 'node:util';
import { type Failure, FailureError } from './failures.ts';

const headEnd = Buffer.from('\r\n\r\n');
const firstDigit = 'HTTP/1.1 '.length;
const one = '1'.charCodeAt(0);
/** This many bytes of a status line tell an informational response from a final one. */
const tellingBytes = 'HTTP/1.1 100 '.length;
const maxHeadBytes = 16_384;
/** A receiver may send informational responses until the deadline; this bounds what they cost. */
const maxInformationalBytes = 1_048_576;

const tooMany: Failure = {
  code: 'response_invalid',
  message: 'The receiver sends informational responses without end.',
};

/** The bytes of an answer on their way to the parser. */
type ByteSource = { read(size?: number): Buffer | null; destroy(error: Error): unknown };

/**
 * Removes informational responses (100 Continue, 103 Early Hints, …) from the stream before the final one. HTTP requires
 * a client to accept them unasked; undici ends the connection at a 100, so a receiver whose server sends one would never
 * get a delivery accepted. A 101 stays: it changes the protocol.
 */
export class InformationalFilter {
  readonly #source: ByteSource;
  #armed = false;
  #held: Buffer | null = null;
  #removedBytes = 0;
  #sawBytes = false;

  /** Replaces the `read` of the source by its own. */
  constructor(source: ByteSource) {
    const read = source.read.bind(source);
    this.#source = source;
    source.read = (size) => (this.#armed && size === undefined ? this.#read(read) : read(size));
  }

  /** An answer comes next. Bytes that come while no answer is due are left to the parser, which refuses them. */
  arm(): void {
    this.#armed = true;
    this.#removedBytes = 0;
    this.#sawBytes = false;
  }

  /** Whether any byte came since `arm`, be it of an informational response. */
  get sawBytes(): boolean {
    return this.#sawBytes;
  }

  #read(read: ByteSource['read']): Buffer | null {
    for (let chunk = read(); chunk !== null; chunk = read()) {
      this.#sawBytes = true;
      const rest = this.#strip(this.#held === null ? chunk : Buffer.concat([this.#held, chunk]));
      if (rest !== null) return rest;
    }
    return null;
  }

  /** What remains for the parser; null when all bytes belong, or may yet belong, to informational responses. */
  #strip(bytes: Buffer): Buffer | null {
    this.#held = null;
    let rest = bytes;
    while (rest.length > 0) {
      const end = mayBeInformational(rest) ? rest.indexOf(headEnd) : 0;
      if (end === 0 || (end === -1 && rest.length > maxHeadBytes)) {
        this.#armed = false;
        return rest;
      }
      if (end === -1) {
        this.#held = rest;
        return null;
      }
      this.#removedBytes += end + headEnd.length;
      rest = rest.subarray(end + headEnd.length);
    }
    if (this.#removedBytes > maxInformationalBytes) this.#source.destroy(new FailureError(tooMany));
    return null;
  }
}

function mayBeInformational(bytes: Buffer): boolean {
  // The usual case, and the cheap one.
  if (bytes.length >= tellingBytes && bytes[firstDigit] !== one) return false;
  const start = bytes.toString('latin1', 0, tellingBytes);
  return start.length < tellingBytes
    ? 'HTTP/1.1 1'.startsWith(start.slice(0, 10))
    : /^HTTP\/1\.1 1(?!01)\d\d[ \r]/.test(start);
}

/** An excerpt has at most this many bytes, both of the body and as stored. */
export const maxExcerptBytes = 4_096;

/** Made once, because most answers are UTF-8 or name no charset. */
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });

/**
 * The beginning of a body as text that PostgreSQL and JSON can hold. Bytes that are invalid in the body's charset and NUL
 * become U+FFFD, and a character that the limit cuts is left out.
 *
 * @param contentType its `charset` says how to decode; without one, or with an unknown one, UTF-8
 */
export function excerptOf(chunks: readonly Buffer[], contentType: string | undefined): string | null {
  if (chunks.length === 0) return null;
  const body = chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
  const decoder = decoderFor(contentType);
  const text = (decoder === utf8 ? decodeUtf8(body) : decodeBeginning(decoder, body)).replaceAll('\0', '\ufffd');
  return text === '' ? null : withinBytes(text);
}

/** Compressed bodies are not inflated: 10 KB of a stranger's bytes can become 10 GB. */
export function isCompressed(contentEncoding: string | undefined): boolean {
  return contentEncoding !== undefined && contentEncoding.trim().toLowerCase() !== 'identity';
}

function decoderFor(contentType: string | undefined): TextDecoder {
  const charset = /;\s*charset\s*=\s*"?([^\s;"]{1,40})/i.exec(contentType ?? '')?.[1]?.toLowerCase();
  if (charset === undefined || charset === 'utf-8' || charset === 'utf8') return utf8;
  try {
    return new TextDecoder(charset, { ignoreBOM: true });
  } catch {
    return utf8;
  }
}

function decodeUtf8(body: Buffer): string {
  return utf8.decode(body.subarray(0, wholeCharacters(body)));
}

function decodeBeginning(decoder: TextDecoder, body: Buffer): string {
  // As a stream: a character that the limit cuts is then not written as U+FFFD.
  return decoder.decode(body.subarray(0, maxExcerptBytes), { stream: body.length > maxExcerptBytes });
}

/** The length of the longest beginning within the limit that does not end inside a UTF-8 character. */
function wholeCharacters(body: Buffer): number {
  if (body.length <= maxExcerptBytes) return body.length;
  for (let back = 0; back < 4; back += 1) {
    if (((body[maxExcerptBytes - back] ?? 0) & 0xc0) !== 0x80) return maxExcerptBytes - back;
  }
  return maxExcerptBytes;
}

/** Text can have more bytes as UTF-8 than its body had (U+FFFD has three for one): cut again, between code points. */
function withinBytes(text: string): string {
  const bytes = Buffer.from(text);
  return bytes.length <= maxExcerptBytes ? text : bytes.toString('utf8', 0, wholeCharacters(bytes));
}
