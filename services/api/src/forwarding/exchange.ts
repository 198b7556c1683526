import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Dispatcher } from 'undici';
import { type Problem, problem } from '../http/problem.ts';
import { beginOwnTimeLimits, endOwnTimeLimits } from '../http/server/connection-state.ts';
import { lingerAfterAnswer } from '../http/server/lingering-close.ts';
import type { ConnectionPool, UpstreamConnection } from './connection.ts';
import { answerHeaders } from './headers.ts';
import { BodyTooLargeError, RequestBody } from './request-body.ts';
import { WrittenChunks } from './written-chunks.ts';

/** How a forwarded request ended, for metrics. */
export type Outcome =
  | 'answered'
  | 'client_left'
  | 'cut'
  | 'payload_too_large'
  | 'request_timeout'
  | 'upstream_timeout'
  | 'upstream_unavailable'
  | 'malformed_request';

export interface ExchangeResult {
  outcome: Outcome;
  /** What to answer; null when an answer has begun, or its client has left. */
  problem: Problem | null;
}

/** What is recorded of a request while it is forwarded. */
interface ExchangeRecord {
  bytesIn: number;
  bytesOut: number;
  /** Of the upstream's answer. */
  upstreamStatus?: number;
  /** From the start until the upstream's head had come, or until it was clear that none would. */
  upstreamMs?: number;
}

export interface TimeLimits {
  /** From the last byte of the request until the upstream's head. */
  timeoutMs: number;
  /** Without a byte in either direction, while the request comes and after the head. */
  idleTimeoutMs: number;
}

export interface ExchangeOptions extends TimeLimits {
  request: IncomingMessage;
  response: ServerResponse;
  pool: ConnectionPool;
  path: string;
  /** To the upstream; a flat list. */
  headers: string[];
  hasBody: boolean;
  maxBodyBytes: number;
  /** Headers that every answer to this request has. */
  ownHeaders: Readonly<Record<string, string>>;
  record: ExchangeRecord;
  /** The monotonic clock, milliseconds. */
  monotonic: () => number;
}

/** Bodies up to this size are sent together with their head where they come together. */
const maxHeldBytes = 16 * 1_024;

/** Methods for whose body HTTP defines no meaning (RFC 9110, sections 9.3.1, 9.3.2 and 9.3.5). */
const withoutUsualBody: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE']);

/** One forwarded request, as a handler for undici's `dispatch`. Bytes go through it in both directions as they come. */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly result: Promise<ExchangeResult>;
  readonly #options: ExchangeOptions;
  readonly #startedAt: number;
  readonly #usualTimeoutMs: number;
  #settle!: (result: ExchangeResult) => void;
  #isOver = false;
  #connection: UpstreamConnection | undefined;
  #body: RequestBody | null = null;
  #controller: Dispatcher.DispatchController | undefined;
  #headTimer: NodeJS.Timeout | undefined;
  #wasResent = false;
  #hasHead = false;
  /** The head, and a small beginning of the body, are held until it is clear whether they are the whole answer. */
  #isHeadHeld = false;
  #heldBody: Buffer | undefined;
  /** Of the answer. */
  readonly #writtenChunks: WrittenChunks;

  constructor(options: ExchangeOptions) {
    this.#options = options;
    this.#startedAt = options.monotonic();
    const { response } = options;
    this.#writtenChunks = new WrittenChunks(() => response.writableLength === 0 && this.#heldBody === undefined);
    this.#usualTimeoutMs = options.request.socket.timeout ?? 0;
    this.result = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  start(): void {
    const { request, response, pool, hasBody, maxBodyBytes, record } = this.#options;
    if (response.destroyed) return this.#end('client_left');
    response.once('close', () => this.#onClientClosed()).on('timeout', () => this.#onIdle());
    if (hasBody) {
      beginOwnTimeLimits(request);
      const onChunk = (bytes: number) => {
        record.bytesIn += bytes;
      };
      this.#body = new RequestBody(request, {
        maxBytes: maxBodyBytes,
        onChunk,
        onEnd: () => this.#awaitHead(),
        isAllSent: () => this.#connection?.isAllSent === true,
      });
      this.#watchIdle();
    } else {
      this.#awaitHead();
    }
    this.#send(pool.acquire());
  }

  /** Ends the request on both sides. An answer that has begun is cut so that its client can tell. */
  cut(): void {
    this.#abandonUpstream();
    this.#cutClient();
    this.#end('cut');
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Thrown, not aborted: the request must not be written.
    if (this.#isOver) throw new Error('The exchange is over.');
    this.#controller = controller;
    this.#connection?.begin();
  }

  onResponseStart(controller: Dispatcher.DispatchController, statusCode: number): void {
    if (this.#isOver) return;
    const { response, ownHeaders, request, record } = this.#options;
    const headers = answerHeaders(controller.rawHeaders as Buffer[], statusCode, ownHeaders);
    // Informational responses have been removed: a status below 200 changes the protocol, or HTTP does not know it.
    if (headers === null || statusCode < 200)
      return controller.abort(new Error('Not an answer that can be passed on.'));
    clearTimeout(this.#headTimer);
    this.#hasHead = true;
    record.upstreamStatus = statusCode;
    record.upstreamMs = this.#elapsedMs();
    if (this.#body !== null && !request.complete) {
      // The rest of the body may never be read: then no other request can follow on this connection.
      headers.push('Connection', 'close');
      lingerAfterAnswer(request.socket);
    }
    this.#watchIdle();
    response.writeHead(statusCode, headers);
    this.#isHeadHeld = true;
    response.on('drain', () => this.#controller?.resume());
    process.nextTick(() => this.#flush());
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isOver) return;
    const { record, response } = this.#options;
    record.bytesOut += chunk.length;
    this.#writtenChunks.next(chunk);
    if (this.#isHeadHeld && this.#heldBody === undefined && chunk.length <= maxHeldBytes) this.#heldBody = chunk;
    else {
      this.#flush();
      if (!response.write(chunk)) controller.pause();
    }
  }

  onResponseEnd(): void {
    if (this.#isOver || this.#connection === undefined) return;
    // A body without a length ends with its connection; a connection that was reset says that there was more.
    if (this.#connection.hasFailed) return this.cut();
    // As text of single bytes, head and body are one write to the socket.
    if (this.#heldBody !== undefined) this.#options.response.end(this.#heldBody.toString('latin1'), 'latin1');
    else this.#options.response.end();
    this.#isHeadHeld = false;
    this.#releaseUpstream(this.#connection);
    this.#end('answered');
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    if (this.#isOver) return;
    if (this.#mayResend()) {
      this.#wasResent = true;
      this.#connection?.destroy();
      return this.#send(this.#options.pool.open());
    }
    if (this.#hasHead) return this.cut();
    if (error instanceof BodyTooLargeError) this.#refuse('payload_too_large');
    // What the library refuses to write, it refuses before the first byte.
    else if ('code' in error && error.code === 'UND_ERR_INVALID_ARG') this.#refuse('malformed_request');
    else this.#refuse('upstream_unavailable');
  }

  /** Sends what was held back in this turn: the head of a stream of events has nothing behind it for now. */
  #flush(): void {
    if (!this.#isHeadHeld) return;
    this.#isHeadHeld = false;
    const { response } = this.#options;
    const beginning = this.#heldBody;
    this.#heldBody = undefined;
    if (beginning !== undefined) response.write(beginning);
    else if (!response.destroyed) response.flushHeaders();
  }

  #send(connection: UpstreamConnection): void {
    this.#connection = connection;
    const { request, path, headers } = this.#options;
    const method = request.method as Dispatcher.HttpMethod;
    // Some servers do not read a body here, and would take it for the next request of the connection.
    const reset = this.#body !== null && withoutUsualBody.has(method);
    connection.client.dispatch({ method, path, headers, body: this.#body, reset }, this);
  }

  /** Only a kept connection that died before a byte of the answer, and only where doing it twice has no effect. */
  #mayResend(): boolean {
    const { method } = this.#options.request;
    const isSafe = (method === 'GET' || method === 'HEAD') && this.#body === null;
    return isSafe && !this.#wasResent && !this.#hasHead && this.#connection?.diedUnanswered === true;
  }

  /** The request has come to its end: from now on the upstream's head is awaited. */
  #awaitHead(): void {
    if (this.#isOver || this.#hasHead) return;
    this.#options.request.socket.setTimeout(0);
    this.#headTimer = setTimeout(() => {
      // If this process was held up, the head may already lie in the socket: poll the sockets once before judging.
      setImmediate(() => setImmediate(() => this.#onNoHead()));
    }, this.#options.timeoutMs);
  }

  /** The idle time is that of the client's socket: every byte of either direction goes through it. */
  #watchIdle(): void {
    this.#options.request.socket.setTimeout(this.#options.idleTimeoutMs);
  }

  #onNoHead(): void {
    if (!this.#isOver && !this.#hasHead) this.#refuse('upstream_timeout');
  }

  #onIdle(): void {
    // A client that does not read an answer of ours is cut, as one that does not read the upstream's.
    if (this.#hasHead || this.#isOver) this.cut();
    else this.#refuse(this.#body?.isBlocked === true ? 'upstream_timeout' : 'request_timeout');
  }

  #onClientClosed(): void {
    clearTimeout(this.#headTimer);
    if (this.#isOver) return;
    this.#abandonUpstream();
    this.#end('client_left');
  }

  #refuse(outcome: Exclude<Outcome, 'answered' | 'client_left' | 'cut'>): void {
    this.#abandonUpstream();
    this.#end(outcome, problem(outcome));
  }

  /** From here on the exchange must not touch the connection: it may serve another request at once. */
  #releaseUpstream(connection: UpstreamConnection): void {
    this.#connection = undefined;
    this.#controller = undefined;
    this.#options.pool.release(connection);
  }

  #abandonUpstream(): void {
    this.#isOver = true;
    this.#body?.destroy();
    this.#connection?.destroy();
  }

  #cutClient(): void {
    const { request, response } = this.#options;
    // HTTP/1.0 takes the end of the connection for the end of the body, unless the connection is reset.
    if (request.httpVersion === '1.0') request.socket.resetAndDestroy();
    else response.destroy();
  }

  #end(outcome: Outcome, found: Problem | null = null): void {
    this.#isOver = true;
    clearTimeout(this.#headTimer);
    const { request, record } = this.#options;
    const { socket } = request;
    endOwnTimeLimits(request);
    record.upstreamMs ??= this.#elapsedMs();
    if (found !== null && !socket.destroyed) socket.setTimeout(this.#usualTimeoutMs);
    this.#settle({ outcome, problem: found });
  }

  #elapsedMs(): number {
    return this.#options.monotonic() - this.#startedAt;
  }
}
