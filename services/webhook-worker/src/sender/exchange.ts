import { TextDecoder } from 'node:util';
import type { Attempt } from '@enterprise-api/shared/contracts';
import { afterPoll } from '@enterprise-api/shared/runtime';
import type { Connection } from './connection.ts';
import { type Failure, FailureError, foreignAnswer } from './failures.ts';

export type DeliveryRequest = {
  url: string;
  headers: Record<string, string>;
  body: Buffer;
};

type Ended = {
  /** Time until the headers were complete or the request failed. Excludes the wait to connect. */
  durationMs: number;
  /** Milliseconds per stage. For a reused connection, all stages before the first byte are null. */
  timings: Attempt['timings'];
  /** Null without a connection. */
  remoteAddress: string | null;
};

/** A complete status line and complete headers arrived before the deadline. */
export type SendResponse = Ended & {
  kind: 'response';
  statusCode: number;
  retryAfter: string | null;
  /** The receiver wants no further attempt of this delivery. */
  isAborted: boolean;
  location: string | null;
  headers: AnswerHeaders;
  /** The beginning of the body as storable text; null if the body is missing or compressed. */
  excerpt: string | null;
  isCompressed: boolean;
};

export type SendFailure = Ended & Failure & { kind: 'error' };

export type SendResult = SendResponse | SendFailure | { kind: 'not_started' };

export type ExchangeOptions = {
  /** Monotonic time from which `timeoutMs` counts. */
  startedAt: number;
  timeoutMs: number;
  mayStart: () => boolean;
};

/** The response's headers by lower-case name, as undici parses them. */
export type AnswerHeaders = Record<string, string | string[] | undefined>;
type Controller = { abort(reason: Error): void };

/** Stop reading a body after 16 KiB, or 2 s after the response's headers. */
const maxBodyBytes = 16 * 1_024;
const maxBodyMs = 2_000;

const notDrained: Failure = { code: 'connection_reset', message: 'The connection still holds a part of a request.' };

/** One request on one connection, as a handler for undici's `dispatch`. Ends at the deadline at the latest. */
export class Exchange {
  isWritten = false;
  /** Whether the connection ended before the request was written, or before the first byte of a response arrived. */
  isRepeatable = false;
  /** Whether another request may use the connection: the response was read to its end, or nothing was written. */
  isReusable = false;
  readonly #connection: Connection;
  readonly #options: ExchangeOptions;
  readonly #settled = Promise.withResolvers<SendResult>();
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;
  #writtenAt = 0;
  #firstByteMs: number | null = null;
  #answeredMs = 0;
  #statusCode = 0;
  #headers: AnswerHeaders = {};
  #bodyBytes = 0;
  readonly #chunks: Buffer[] = [];

  constructor(connection: Connection, options: ExchangeOptions) {
    this.#connection = connection;
    this.#options = options;
  }

  send(path: string, { headers, body }: Pick<DeliveryRequest, 'headers' | 'body'>): Promise<SendResult> {
    this.#expireWithin(Number.POSITIVE_INFINITY);
    this.#connection.client.dispatch({ method: 'POST', path, headers, body }, this);
    return this.#settled.promise;
  }

  onRequestStart(): void {
    // If the receiver has not read all of the previous request, the new request would wait behind the remaining bytes.
    if (!this.#isOver && !this.#connection.isDrained()) this.#fail(notDrained);
    if (!this.#isOver && !this.#options.mayStart()) {
      this.isReusable = true;
      this.#end({ kind: 'not_started' });
    }
    // Throw instead of aborting, because an abort would also end the connection.
    if (this.#isOver) throw new FailureError(notDrained);
    this.isWritten = true;
    this.#connection.begin();
    this.#writtenAt = performance.now();
  }

  onResponseStarted(): void {
    this.#firstByteMs ??= Math.round(performance.now() - this.#writtenAt);
  }

  onResponseStart(controller: Controller, statusCode: number, headers: AnswerHeaders): void {
    if (this.#isOver) return;
    // The filter has removed informational responses, so this status changes the protocol or is unknown to HTTP.
    if (statusCode < 200) return controller.abort(new FailureError(foreignAnswer));
    this.#statusCode = statusCode;
    this.#headers = headers;
    this.#answeredMs = this.#elapsedMs;
    this.#expireWithin(maxBodyMs);
  }

  onResponseData(_controller: Controller, chunk: Buffer): void {
    if (this.#isOver) return;
    if (this.#bodyBytes < maxExcerptBytes) this.#chunks.push(chunk);
    this.#bodyBytes += chunk.length;
    if (this.#bodyBytes > maxBodyBytes) this.#answer();
  }

  onResponseEnd(): void {
    if (this.#isOver) return;
    this.isReusable = true;
    this.#answer();
  }

  onResponseError(_controller: Controller | null, error: Error): void {
    if (this.#isOver) return;
    // After complete headers, an incomplete body does not invalidate the response.
    if (this.#statusCode === 0) this.#fail(this.#connection.failureOf(error));
    else this.#answer();
  }

  #answer(): void {
    const header = (name: string) => {
      const value = this.#headers[name];
      return Array.isArray(value) ? value[0] : value;
    };
    const isCompressed = isCompressedEncoding(header('content-encoding'));
    this.#end({
      kind: 'response',
      statusCode: this.#statusCode,
      retryAfter: header('retry-after') ?? null,
      isAborted: header('webhook-delivery') === 'abort-message',
      location: header('location') ?? null,
      headers: this.#headers,
      excerpt: isCompressed ? null : excerptOf(this.#chunks, header('content-type')),
      isCompressed: isCompressed && this.#bodyBytes > 0,
      ...this.#ended(this.#answeredMs),
    });
  }

  #fail(failure: Failure): void {
    this.isRepeatable = this.isWritten
      ? failure.code === 'connection_reset' && !this.#connection.sawBytes
      : failure.code !== 'timeout';
    this.#end({ kind: 'error', ...failure, ...this.#ended(this.#elapsedMs) });
  }

  #ended(durationMs: number): Ended {
    const timings = { ...this.#connection.setup, first_byte_ms: this.#firstByteMs };
    return { durationMs: Math.round(durationMs), timings, remoteAddress: this.#connection.address };
  }

  #end(result: SendResult): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#settled.resolve(result);
  }

  get #elapsedMs(): number {
    return performance.now() - this.#options.startedAt;
  }

  #expireWithin(atMostMs: number): void {
    clearTimeout(this.#timer);
    const leftMs = Math.max(0, this.#options.timeoutMs - this.#elapsedMs);
    // Without the added 1, timers fire early: they count from the start of the event-loop iteration.
    this.#timer = setTimeout(() => afterPoll(() => this.#expire()), Math.ceil(Math.min(leftMs, atMostMs)) + 1);
  }

  #expire(): void {
    if (this.#isOver) return;
    if (this.#statusCode !== 0) return this.#answer();
    const message = `${missing[this.#connection.stage]} within ${this.#options.timeoutMs} ms.`;
    this.#fail({ code: 'timeout', message });
  }
}

const missing = {
  connecting: 'The receiver did not accept the connection',
  securing: 'The TLS handshake was not finished',
  open: 'The receiver did not answer',
} as const;

/** Limits in bytes both the part of the body that an excerpt covers and the excerpt's text. */
export const maxExcerptBytes = 4 * 1_024;

/**
 * Returns the beginning of a body as text that PostgreSQL and JSON can hold. Replaces NUL and bytes that are invalid in
 * the body's charset with U+FFFD. Omits a character that the limit splits.
 *
 * @param contentType names the body's charset; UTF-8 replaces a missing or unknown one
 */
export function excerptOf(chunks: readonly Buffer[], contentType: string | undefined): string | null {
  if (chunks.length === 0) return null;
  const text = beginningOf(Buffer.concat(chunks), decoderFor(contentType)).replaceAll('\0', '\ufffd');
  if (Buffer.byteLength(text) <= maxExcerptBytes) return text || null;
  // Text can have more bytes as UTF-8 than its body had: U+FFFD has three bytes and may replace one.
  return beginningOf(Buffer.from(text), decoderFor(undefined));
}

/** The worker never inflates compressed bodies, because 10 KB of a stranger's bytes can become 10 GB. */
export function isCompressedEncoding(contentEncoding: string | undefined): boolean {
  return contentEncoding !== undefined && contentEncoding.trim().toLowerCase() !== 'identity';
}

function decoderFor(contentType: string | undefined): TextDecoder {
  const charset = /;\s*charset\s*=\s*"?([^\s;"]{1,40})/i.exec(contentType ?? '')?.[1];
  try {
    return new TextDecoder(charset, { ignoreBOM: true });
  } catch {
    return new TextDecoder('utf-8', { ignoreBOM: true });
  }
}

function beginningOf(bytes: Buffer, decoder: TextDecoder): string {
  // Decodes as a stream, so that a character that the limit splits does not become U+FFFD.
  return decoder.decode(bytes.subarray(0, maxExcerptBytes), { stream: bytes.length > maxExcerptBytes });
}
