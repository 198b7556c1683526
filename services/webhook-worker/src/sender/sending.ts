import type { ConnectionPool } from './connection-pool.ts';
import type { Connection, Connector } from './connector.ts';
import { Deadline } from './deadline.ts';
import type { AddressBook, Location } from './dns-cache.ts';
import { Exchange, type ExchangeEvents } from './exchange.ts';
import { destinationBlocked, type Failure } from './failures.ts';
import type { Target } from './target.ts';
import type { DeliveryRequest, SendHooks, SendResult, Timings } from './types.ts';

/** What every sending of a sender shares. */
export type SendingContext = {
  targets: (url: string) => Target | null;
  book: AddressBook;
  pool: ConnectionPool<Connection>;
  connect: Connector;
  timeoutMs: number;
  monotonic: () => number;
};

/** After the head of an answer, its body is read for at most this long. */
const maxBodyMs = 2_000;
/** Waiting for its turn to connect ends with an attempt's own deadline: one that is shorter than this cannot afford it. */
const patientFromMs = 5_000;
/** A deadline that fires later than this says more about this process than about the receiver. */
const lateMs = 500;

/** One `send`: from the URL to its result, under one deadline. */
export class Sending implements ExchangeEvents {
  readonly #context: SendingContext;
  readonly #request: DeliveryRequest;
  readonly #hooks: SendHooks;
  readonly #settled: (result: SendResult) => void;
  readonly #deadline: Deadline;
  #target: Target | null = null;
  #addresses: readonly string[] = [];
  #dnsMs: number | null = null;
  #connection: Connection | null = null;
  #isReused = false;
  #exchange: Exchange | null = null;
  #answeredMs: number | null = null;
  #isOver = false;

  constructor(
    context: SendingContext,
    request: DeliveryRequest,
    hooks: SendHooks,
    settled: (result: SendResult) => void,
  ) {
    this.#context = context;
    this.#request = request;
    this.#hooks = hooks;
    this.#settled = settled;
    this.#deadline = new Deadline(context.timeoutMs, context.monotonic, () => this.#expire());
  }

  start(): void {
    const { book, targets } = this.#context;
    const target = targets(this.#request.url);
    if (target === null) {
      this.#fail(destinationBlocked);
      return;
    }
    this.#deadline.start();
    this.#target = target;
    const location = book.known(target.host);
    if (location === undefined) void this.#locate(target);
    else this.#go(target, location);
  }

  starting(): boolean {
    const connection = this.#connection;
    // A receiver answered the request before and did not take all of it: this one would wait behind the rest.
    if (connection === null || !connection.isDrained()) return false;
    if (this.#hooks.mayStart()) {
      connection.begin();
      return true;
    }
    // Nothing was written: the connection is as good as before.
    this.#context.pool.put(connection);
    this.#settle({ kind: 'not_started' });
    return false;
  }

  answered(statusCode: number): void {
    this.#answeredMs = this.#deadline.elapsedMs;
    this.#deadline.replace(Math.min(this.#deadline.remainingMs, maxBodyMs), () => this.finished(false));
    this.#hooks.onAnswer?.(statusCode);
  }

  finished(wholeBody: boolean): void {
    if (this.#isOver || this.#exchange === null || this.#connection === null) return;
    const durationMs = Math.round(this.#answeredMs ?? 0);
    this.#settle({ ...this.#exchange.response(), durationMs, timings: this.#timings() });
    if (wholeBody) this.#context.pool.put(this.#connection);
    else this.#connection.destroy();
  }

  failed(failure: Failure, written: boolean): void {
    this.#connection?.destroy();
    // A kept connection that ended before anything was written on it says nothing about the receiver.
    if (this.#target !== null && this.#isReused && !written) {
      this.#isReused = false;
      this.#dispatch(this.#target, this.#connectTo(this.#target));
    } else {
      this.#fail(failure);
    }
  }

  async #locate(target: Target): Promise<void> {
    const location = await this.#context.book.find(target.host);
    if (this.#isOver) return;
    this.#dnsMs = this.#deadline.elapsedMs;
    this.#go(target, location);
  }

  #go(target: Target, location: Location): void {
    if (!location.ok) {
      this.#fail(location.failure);
      return;
    }
    this.#addresses = location.addresses;
    const kept = this.#context.pool.take(target.origin, location.addresses);
    if (kept === undefined) this.#dispatch(target, this.#connectTo(target));
    else this.#reuse(target, kept);
  }

  /**
   * undici looks at a kept connection once more before it writes, in the next check phase. One turn is put before that,
   * so that a whole poll phase lies between: an end, or an answer planted while nothing was asked, is then seen first.
   */
  #reuse(target: Target, kept: Connection): void {
    this.#isReused = true;
    this.#connection = kept;
    setImmediate(() => {
      if (!this.#isOver) this.#dispatch(target, kept);
    });
  }

  #connectTo({ origin, host, port }: Target): Connection {
    const canWait = this.#request.canWait === true && this.#context.timeoutMs >= patientFromMs;
    const since = this.#context.monotonic();
    const onTurn = () => this.#takeTurn(this.#context.monotonic() - since);
    return this.#context.connect({ origin, host, port, addresses: this.#addresses, canWait, onTurn });
  }

  /** Waiting for its turn is our doing: the receiver has all of its time, and none of this shows as its own. */
  #takeTurn(waitedMs: number): boolean {
    if (this.#isOver) return false;
    if (!this.#hooks.mayStart()) {
      this.#settle({ kind: 'not_started' });
      this.#connection?.destroy();
      return false;
    }
    this.#hooks.onConnect?.();
    this.#deadline.excuse(waitedMs);
    return true;
  }

  #dispatch({ path }: Target, connection: Connection): void {
    const { headers, body } = this.#request;
    this.#connection = connection;
    this.#exchange = new Exchange(this, this.#context.monotonic);
    connection.client.dispatch({ method: 'POST', path, headers, body }, this.#exchange);
  }

  /** After a pause of the whole process the deadline is seen before the answer that came in time: look for that first. */
  #expire(): void {
    const isLate = this.#deadline.elapsedMs > this.#context.timeoutMs + lateMs;
    if (isLate && this.#exchange?.written) setImmediate(() => this.#timeOut());
    else this.#timeOut();
  }

  #timeOut(): void {
    if (this.#answeredMs !== null) this.finished(false);
    if (this.#isOver) return;
    // Its turn to connect did not come: that says nothing about the receiver.
    if (this.#connection?.stage === 'waiting') {
      this.#settle({ kind: 'not_started' });
      this.#connection.destroy();
      return;
    }
    this.#fail({ code: 'timeout', message: `${this.#whatIsMissing()} within ${this.#context.timeoutMs} ms.` });
    this.#connection?.destroy();
  }

  #whatIsMissing(): string {
    if (this.#connection === null) return 'The host name of the URL was not resolved';
    if (this.#connection.stage === 'connecting') return 'The receiver did not accept the connection';
    if (this.#connection.stage === 'securing') return 'The TLS handshake was not finished';
    return 'The receiver did not answer';
  }

  #fail({ code, message }: Failure): void {
    const durationMs = Math.round(this.#deadline.elapsedMs);
    this.#settle({ kind: 'error', code, message, durationMs, timings: this.#timings() });
  }

  #settle(result: SendResult): void {
    this.#isOver = true;
    this.#deadline.clear();
    this.#exchange?.abandon();
    this.#settled(result);
  }

  #timings(): Timings {
    const exchange = this.#exchange;
    const connection = this.#isReused ? null : this.#connection;
    const firstByteAt = exchange?.firstByteAt ?? null;
    const firstByteMs = exchange === null || firstByteAt === null ? null : firstByteAt - exchange.writtenAt;
    return {
      dns_ms: this.#isReused ? null : rounded(this.#dnsMs),
      connect_ms: rounded(connection?.connectMs ?? null),
      tls_ms: rounded(connection?.tlsMs ?? null),
      first_byte_ms: rounded(firstByteMs),
    };
  }
}

function rounded(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms);
}
