import { TextDecoder } from 'node:util';
import type { Connection } from './connection.ts';
import { type Failure, FailureError } from './failures.ts';

/** What is kept of an answer. */
export type Answer = {
  /** 200 to 999. */
  statusCode: number;
  /** The first `Retry-After` header, unparsed. */
  retryAfter: string | null;
  /** The first `Location` header, unparsed. */
  location: string | null;
  /** The beginning of the body as storable text; null without a body and for a compressed one. */
  excerpt: string | null;
  /** There is a body, and it is compressed. */
  isCompressed: boolean;
};

/** What came of one request on one connection. */
export type ExchangeResult =
  | {
      kind: 'response';
      answer: Answer;
      /** From the start of the deadline to the complete headers. */
      answeredMs: number;
      /** From writing the request to the first byte of an answer; null without one. */
      firstByteMs: number | null;
      /** The body was read to its end: the connection can be used again. */
      isWhole: boolean;
    }
  | {
      kind: 'error';
      failure: Failure;
      /** Whether the receiver may have seen the request. */
      written: boolean;
      /** The connection ended before the request was written, or else before the first byte of an answer. */
      isRepeatable: boolean;
      firstByteMs: number | null;
    }
  /** The caller refused the start. The connection is as good as before. */
  | { kind: 'not_started' };

export type ExchangeOptions = {
  deadline: Deadline;
  /** The monotonic clock, milliseconds. */
  monotonic: () => number;
  /** Asked right before the first byte; `false` gives the request up. */
  mayStart: () => boolean;
};

type Headers = Record<string, string | string[] | undefined>;
type Controller = { abort(reason: Error): void };

/** At 16 KiB a body is cut off, and after the head of an answer it is read for at most 2 s. */
const maxBodyBytes = 16_384;
const maxBodyMs = 2_000;
/** A deadline that fires later than this shows that this process was blocked, not that the receiver was slow. */
const lateMs = 500;

const notHttp: Failure = { code: 'response_invalid', message: 'The answer is not one that belongs to the request.' };
const notDrained: Failure = { code: 'connection_reset', message: 'The connection still holds a part of a request.' };
/** Thrown at undici; the exchange has its result already. */
const givenUp = new FailureError(notDrained);

/** One request on one connection, as a handler for undici's `dispatch`. It ends at the deadline at the latest. */
export class Exchange {
  readonly result: Promise<ExchangeResult>;
  readonly #connection: Connection;
  readonly #options: ExchangeOptions;
  #settle!: (result: ExchangeResult) => void;
  #isOver = false;
  #isWritten = false;
  /** When the request was written, and when the answer began: milliseconds of the deadline. */
  #writtenAt = 0;
  #firstByteAt: number | null = null;
  #answeredMs = 0;
  #statusCode = 0;
  #headers: Headers = {};
  #bodyBytes = 0;
  #chunks: Buffer[] = [];

  constructor(connection: Connection, options: ExchangeOptions) {
    this.#connection = connection;
    this.#options = options;
    this.result = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  start(path: string, request: { headers: Readonly<Record<string, string>>; body: Buffer }): void {
    this.#options.deadline.arm(() => this.#expire());
    this.#connection.client.dispatch({ method: 'POST', path, ...request }, this);
  }

  onRequestStart(): void {
    const connection = this.#connection;
    // The receiver answered the previous request without reading all of it: this request would wait behind its rest.
    if (!this.#isOver && !connection.isDrained()) this.#fail(notDrained);
    if (!this.#isOver && !this.#options.mayStart()) this.#end({ kind: 'not_started' });
    // Thrown, not aborted: an abort would end the connection too.
    if (this.#isOver) throw givenUp;
    this.#isWritten = true;
    connection.begin();
    this.#writtenAt = this.#options.monotonic();
  }

  onResponseStarted(): void {
    this.#firstByteAt ??= this.#options.monotonic();
  }

  onResponseStart(controller: Controller, statusCode: number, headers: Headers): void {
    if (this.#isOver) return;
    // Informational responses have been removed: this status changes the protocol, or HTTP does not know it.
    if (statusCode < 200) return controller.abort(new FailureError(notHttp));
    const { deadline } = this.#options;
    this.#statusCode = statusCode;
    this.#headers = headers;
    this.#answeredMs = deadline.elapsedMs;
    deadline.arm(() => this.#answer(false), maxBodyMs);
    this.#connection.noteAnswer();
  }

  onResponseData(_controller: Controller, chunk: Buffer): void {
    if (this.#isOver) return;
    if (this.#bodyBytes < maxExcerptBytes) this.#chunks.push(chunk);
    this.#bodyBytes += chunk.length;
    if (this.#bodyBytes > maxBodyBytes) this.#answer(false);
  }

  onResponseEnd(): void {
    if (!this.#isOver) this.#answer(true);
  }

  onResponseError(_controller: Controller | null, error: Error): void {
    if (this.#isOver) return;
    // A body that is cut off does not take back the answer.
    if (this.#statusCode === 0) this.#fail(this.#connection.failureOf(error));
    else this.#answer(false);
  }

  #answer(isWhole: boolean): void {
    const headers = this.#headers;
    const compressed = isCompressed(first(headers['content-encoding']));
    const answer = {
      statusCode: this.#statusCode,
      retryAfter: first(headers['retry-after']) ?? null,
      location: first(headers.location) ?? null,
      excerpt: compressed ? null : excerptOf(this.#chunks, first(headers['content-type'])),
      isCompressed: compressed && this.#bodyBytes > 0,
    };
    this.#end({ kind: 'response', answer, answeredMs: this.#answeredMs, firstByteMs: this.#firstByteMs, isWhole });
  }

  #fail(failure: Failure): void {
    const isUnanswered = this.#firstByteAt === null && !this.#connection.sawBytes;
    const hasEnded = this.#connection.stage === 'open' && failure.code === 'connection_reset';
    const isRepeatable = this.#isWritten ? hasEnded && isUnanswered : failure.code !== 'timeout';
    this.#end({ kind: 'error', failure, written: this.#isWritten, isRepeatable, firstByteMs: this.#firstByteMs });
  }

  #end(result: ExchangeResult): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#options.deadline.clear();
    this.#settle(result);
  }

  get #firstByteMs(): number | null {
    return this.#firstByteAt === null ? null : this.#firstByteAt - this.#writtenAt;
  }

  #expire(): void {
    const { deadline } = this.#options;
    // After the process was blocked, the timer runs before the answer that came meanwhile is read: read it first.
    if (deadline.lateMs > lateMs && this.#isWritten) setImmediate(() => this.#timeOut());
    else this.#timeOut();
  }

  #timeOut(): void {
    if (this.#isOver) return;
    if (this.#statusCode !== 0) return this.#answer(false);
    const message = `${missing[this.#connection.stage]} within ${this.#options.deadline.totalMs} ms.`;
    this.#fail({ code: 'timeout', message });
  }
}

const missing = {
  connecting: 'The receiver did not accept the connection',
  securing: 'The TLS handshake was not finished',
  open: 'The receiver did not answer',
} as const;

function first(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

/** The one deadline of an attempt, and how long the attempt has taken. */
export class Deadline {
  readonly totalMs: number;
  readonly #monotonic: () => number;
  readonly #startedAt: number;
  #timer: NodeJS.Timeout | undefined;

  /** @param spentMs what looking up the host took */
  constructor(totalMs: number, spentMs: number, monotonic: () => number) {
    this.totalMs = totalMs;
    this.#monotonic = monotonic;
    this.#startedAt = monotonic() - spentMs;
  }

  get elapsedMs(): number {
    return this.#monotonic() - this.#startedAt;
  }

  get remainingMs(): number {
    return Math.max(0, this.totalMs - this.elapsedMs);
  }

  get hasPassed(): boolean {
    return this.remainingMs === 0;
  }

  get lateMs(): number {
    return this.elapsedMs - this.totalMs;
  }

  /** Calls `expire` when the deadline has passed, or after `atMostMs`, instead of what was armed before. */
  arm(expire: () => void, atMostMs = Number.POSITIVE_INFINITY): void {
    this.clear();
    // Timers count whole milliseconds from the beginning of the event-loop turn: without the addition they fire early.
    this.#timer = setTimeout(expire, Math.ceil(Math.min(this.remainingMs, atMostMs)) + 1);
  }

  clear(): void {
    clearTimeout(this.#timer);
  }
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
