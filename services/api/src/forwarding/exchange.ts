import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Dispatcher } from 'undici';
import { type Problem, problem } from '../http/problem.ts';
import { lingerAfterAnswer } from '../http/server/lingering-close.ts';
import { beginOwnTimeLimits, endOwnTimeLimits } from '../http/server/own-time-limits.ts';
import type { ConnectionPool, UpstreamConnection } from './connection.ts';
import { answerHeaders } from './headers.ts';
import { BodyTooLargeError, RequestBody } from './request-body.ts';
import { WrittenChunks } from './written-chunks.ts';

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
  /** The error to send to the client; null if an answer has begun or the client has left. */
  problem: Problem | null;
}

interface ExchangeRecord {
  bytesIn: number;
  bytesOut: number;
  upstreamStatus?: number;
  /** Time from the start until the upstream's head arrived, or until the exchange ended without a head. */
  upstreamMs?: number;
}

export interface TimeLimits {
  /** Limit from the last byte of the request until the upstream's head. */
  timeoutMs: number;
  /** The longest time without a byte in either direction, while the request arrives and after the upstream's head. */
  idleTimeoutMs: number;
}

export interface ExchangeOptions extends TimeLimits {
  request: IncomingMessage;
  response: ServerResponse;
  pool: ConnectionPool;
  path: string;
  headers: string[];
  hasBody: boolean;
  maxBodyBytes: number;
  ownHeaders: Readonly<Record<string, string>>;
  record: ExchangeRecord;
  /** Monotonic clock in milliseconds. */
  monotonic: () => number;
}

/** A first chunk up to this size is sent together with the head. */
const maxHeldBytes = 16 * 1_024;

/** HTTP defines no meaning for a body of these methods (RFC 9110, sections 9.3.1, 9.3.2 and 9.3.5). */
const withoutUsualBody: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE']);

/** One forwarded request, as a handler for undici's `dispatch`. It streams the bytes in both directions. */
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
  /** True while the head and a small first chunk wait for the next tick. So a complete small answer needs one write. */
  #isHeadHeld = false;
  #heldBody: Buffer | undefined;
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

  /** Ends the request on both sides. If an answer has begun, cuts it, so that the client notices. */
  cut(): void {
    this.#abandonUpstream();
    this.#cutClient();
    this.#end('cut');
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Throw instead of aborting, so that undici does not write the request.
    if (this.#isOver) throw new Error('The exchange is over.');
    this.#controller = controller;
    this.#connection?.begin();
  }

  onResponseStart(controller: Dispatcher.DispatchController, statusCode: number): void {
    if (this.#isOver) return;
    const { response, ownHeaders, request, record } = this.#options;
    const headers = answerHeaders(controller.rawHeaders as Buffer[], statusCode, ownHeaders);
    // The filter has removed informational responses, so a status below 200 switches the protocol or is unknown to
    // HTTP.
    if (headers === null || statusCode < 200)
      return controller.abort(new Error('Not an answer that can be passed on.'));
    clearTimeout(this.#headTimer);
    this.#hasHead = true;
    record.upstreamStatus = statusCode;
    record.upstreamMs = this.#elapsedMs();
    if (this.#body !== null && !request.complete) {
      // The rest of the request's body may never be read, so no other request can follow on the client's connection.
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
    // A body without a length ends with its connection. If the connection failed, the body is incomplete.
    if (this.#connection.hasFailed) return this.cut();
    // Pass the body as latin1 text, because Node then writes head and body to the socket in one write.
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
    // undici refuses invalid arguments before it writes the first byte.
    else if ('code' in error && error.code === 'UND_ERR_INVALID_ARG') this.#refuse('malformed_request');
    else this.#refuse('upstream_unavailable');
  }

  /** Sends the buffered head and chunk. Without this, the head of an event stream would wait for the first event. */
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
    // Some servers do not read a body of these methods, and would parse it as the connection's next request.
    const reset = this.#body !== null && withoutUsualBody.has(method);
    connection.client.dispatch({ method, path, headers, body: this.#body, reset }, this);
  }

  /**
   * Resends once, if a reused connection died before the first response byte and the request is safe to repeat.
   */
  #mayResend(): boolean {
    const { method } = this.#options.request;
    const isSafe = (method === 'GET' || method === 'HEAD') && this.#body === null;
    return isSafe && !this.#wasResent && !this.#hasHead && this.#connection?.diedUnanswered === true;
  }

  /** Call at the end of the request: starts the time limit for the upstream's head. */
  #awaitHead(): void {
    if (this.#isOver || this.#hasHead) return;
    this.#options.request.socket.setTimeout(0);
    this.#headTimer = setTimeout(() => {
      // If this process was suspended, the head may already be in the socket: poll the sockets once before judging.
      setImmediate(() => setImmediate(() => this.#onNoHead()));
    }, this.#options.timeoutMs);
  }

  /** Watches the client's socket: every byte of either direction passes through it. */
  #watchIdle(): void {
    this.#options.request.socket.setTimeout(this.#options.idleTimeoutMs);
  }

  #onNoHead(): void {
    if (!this.#isOver && !this.#hasHead) this.#refuse('upstream_timeout');
  }

  #onIdle(): void {
    // Cut a client that does not read the answer, whether it is the upstream's answer or ours.
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

  /** Afterwards the exchange must not touch the connection, which may already serve another request. */
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
    // In HTTP/1.0 the end of the connection ends the body. A reset shows the client that the body is incomplete.
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
