import { excerptOf, maxExcerptBytes } from './excerpt.ts';
import { exchangeFailure, type Failure, FailureError } from './failures.ts';

/** What came of an exchange: an answer, a failure, or nothing because its start was refused. */
export type Outcome =
  | { kind: 'response'; statusCode: number; retryAfter: string | null; excerpt: string | null }
  | { kind: 'error'; failure: Failure }
  | { kind: 'not_started' };

/** How one request on one connection tells its sender what happens. Called synchronously, each at most once. */
export type ExchangeEvents = {
  /** Right before the first byte. `false` gives the request up. */
  starting(): boolean;
  /** The head of the final answer is complete. */
  answered(statusCode: number): void;
  /** The body is read as far as it will be; `complete`: to its end, so that the connection can be used again. */
  finished(complete: boolean): void;
  /** No answer will come. `written`: the receiver may have seen the request. */
  failed(failure: Failure, written: boolean): void;
};

type Headers = Record<string, string | string[] | undefined>;
type Controller = { abort(reason: Error): void };

/** At 16 KiB a body is cut off. */
const maxBodyBytes = 16_384;

const notHttp: Failure = { code: 'response_invalid', message: 'The answer is not one that belongs to the request.' };
const refused = new FailureError({ code: 'connection_reset', message: 'The request was given up before it started.' });

/** One request on one connection, as a handler for undici's dispatch: it turns callbacks into {@link ExchangeEvents}. */
export class Exchange {
  written = false;
  statusCode = 0;
  /** When the request was written and when the first byte of an answer came, on the monotonic clock. */
  writtenAt = 0;
  firstByteAt: number | null = null;
  readonly #events: ExchangeEvents;
  readonly #monotonic: () => number;
  #over = false;
  #bodyBytes = 0;
  #chunks: Buffer[] = [];
  #headers: Headers = {};

  constructor(events: ExchangeEvents, monotonic: () => number) {
    this.#events = events;
    this.#monotonic = monotonic;
  }

  /** The status, what of the headers and body is kept. Only after `answered`. */
  response(): Outcome & { kind: 'response' } {
    const retryAfter = first(this.#headers['retry-after']);
    const encoding = first(this.#headers['content-encoding']);
    return {
      kind: 'response',
      statusCode: this.statusCode,
      retryAfter: retryAfter ?? null,
      excerpt: excerptOf(this.#chunks, encoding),
    };
  }

  /** Its sender has what it needs: nothing is told any more. */
  abandon(): void {
    this.#over = true;
  }

  onRequestStart(): void {
    // Thrown, not aborted: an abort would take the connection along.
    if (this.#over || !this.#events.starting()) throw refused;
    this.written = true;
    this.writtenAt = this.#monotonic();
  }

  onResponseStarted(): void {
    this.firstByteAt ??= this.#monotonic();
  }

  onResponseStart(controller: Controller, statusCode: number, headers: Headers): void {
    if (this.#over) return;
    // Interim answers were taken out before: this one is a change of protocol, or nothing that HTTP knows.
    if (statusCode < 200) {
      controller.abort(new FailureError(notHttp));
    } else {
      this.statusCode = statusCode;
      this.#headers = headers;
      this.#events.answered(statusCode);
    }
  }

  onResponseData(_controller: Controller, chunk: Buffer): void {
    if (this.#over) return;
    if (this.#bodyBytes < maxExcerptBytes) this.#chunks.push(chunk);
    this.#bodyBytes += chunk.length;
    if (this.#bodyBytes > maxBodyBytes) this.#finish(false);
  }

  onResponseEnd(): void {
    if (!this.#over) this.#finish(true);
  }

  onResponseError(_controller: Controller | null, error: Error): void {
    if (this.#over) return;
    this.#over = true;
    // A body that is cut off does not take back the answer.
    if (this.statusCode === 0) this.#events.failed(exchangeFailure(error), this.written);
    else this.#events.finished(false);
  }

  #finish(complete: boolean): void {
    this.#over = true;
    this.#events.finished(complete);
  }
}

function first(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
