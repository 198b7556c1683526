import type { Attempt } from '@enterprise-api/shared/contracts';
import type { AddressPolicy } from '@enterprise-api/shared/security';
import { type Connection, ConnectionPool, type Connector, createConnector } from './connection.ts';
import { createResolver, createTargets, DnsCache, type Location, type Resolver, type Target } from './destination.ts';
import { type Answer, Deadline, Exchange, type ExchangeResult } from './exchange.ts';
import { destinationBlocked, type Failure, type LocalCause, type SendErrorCode } from './failures.ts';

/** Where the rules for addresses are asked: of the URL, of the addresses of its name, of the address that a socket has reached. */
type AddressCheck = 'url' | 'name' | 'connection';

/** What one attempt sends: a POST of exactly these bytes. */
export type DeliveryRequest = {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: Buffer;
};

/** What the sender asks and tells its caller during an attempt. Called synchronously. */
export type SendHooks = {
  /**
   * Asked before a connection is made, if one is needed, and right before the first byte is written. `false` ends the
   * attempt as `not_started`: nothing was sent.
   */
  mayStart(): boolean;
  /** Told when a new connection begins, if one is needed: the wait to connect ends here. */
  onConnect?(): void;
};

/** Milliseconds per stage, as they are stored. The first three are null where a connection was reused. */
type Timings = Attempt['timings'];

/** The receiver answered: a complete status line and headers came before the deadline. */
export type SendResponse = Answer & {
  kind: 'response';
  /** From the call of `send` to the complete headers, without the wait to connect. */
  durationMs: number;
  timings: Timings;
};

/** No usable answer. */
export type SendFailure = {
  kind: 'error';
  code: SendErrorCode;
  /** Our own words, at most 200 characters. Never a library's text, never an address. */
  message: string;
  /** Set when the failure is ours and says nothing about the receiver. */
  localCause: LocalCause | null;
  durationMs: number;
  timings: Timings;
};

/** `mayStart` said no: not an attempt. Nothing of the request was written. */
type SendNotStarted = { kind: 'not_started' };

export type SendResult = SendResponse | SendFailure | SendNotStarted;

/** Sends deliveries. Never throws or rejects, whatever a receiver, a name server or a URL does. */
export type Sender = {
  send(request: DeliveryRequest, hooks: SendHooks): Promise<SendResult>;
  /** Waits for running sends (each has its deadline), refuses new ones, then closes every connection. */
  close(): Promise<void>;
};

export type SenderOptions = {
  /** Which addresses may be reached. */
  policy: AddressPolicy;
  /** One deadline over DNS, connect, TLS, send and answer. The wait to connect does not count. */
  timeoutMs: number;
  /** PEM certificates of authorities trusted in addition to the usual ones (`WEBHOOK_CA_FILE`). */
  ca?: string | undefined;
  resolver?: Resolver;
  /** Connections kept for their next request, over all receivers. */
  maxIdleConnections?: number;
  /** Told of each request that is sent once more because its kept connection ended before an answer. */
  onResent?: () => void;
  /** Told of each request that the rules for addresses refuse, and at which of their checks. */
  onBlocked?: (check: AddressCheck) => void;
  /** The monotonic clock, milliseconds. */
  monotonic?: () => number;
};

/**
 * Sends deliveries; nothing else in the worker connects to a receiver. Addresses are checked twice, redirects are not
 * followed, and there are no proxies, cookies or decompression. One deadline ends every request, whatever a receiver does.
 */
export function createSender(options: SenderOptions): Sender {
  const { policy, timeoutMs, ca, maxIdleConnections = 2_000, monotonic = () => performance.now() } = options;
  const { onBlocked = () => undefined } = options;
  const resolver = options.resolver ?? createResolver();
  const pool = new ConnectionPool<Connection>(maxIdleConnections, monotonic);
  const parts: TransmissionParts = {
    targetOf: createTargets(policy),
    dns: new DnsCache({ resolver, policy, monotonic }),
    pool,
    paceConnecting: createConnectPacing(),
    connect: createConnector({
      policy,
      ca,
      monotonic,
      onClose: (connection) => pool.remove(connection),
      onBlocked: () => onBlocked('connection'),
    }),
    onResent: options.onResent ?? (() => undefined),
    onBlocked,
    timeoutMs,
    monotonic,
  };
  let running = 0;
  let closing: PromiseWithResolvers<void> | null = null;
  const ended = () => {
    running -= 1;
    if (running === 0) closing?.resolve();
  };
  return {
    async send(request, hooks) {
      if (closing !== null) return { kind: 'not_started' };
      running += 1;
      try {
        return await new Transmission(parts, request, hooks).run();
      } finally {
        ended();
      }
    },
    async close() {
      closing ??= Promise.withResolvers();
      if (running > 0) await closing.promise;
      pool.destroyAll();
      resolver.close();
    },
  };
}

/**
 * Spreads new connections over rounds of the event loop, each of which begins a tenth of those that wait. When a thousand
 * begin at once, their handshakes complete together and delay every answer behind them.
 */
export function createConnectPacing(): () => Promise<void> {
  const waiting: (() => void)[] = [];
  const beginSome = () => {
    for (const begin of waiting.splice(0, Math.max(2, Math.ceil(waiting.length / 10)))) begin();
    if (waiting.length > 0) setImmediate(beginSome);
  };
  return () => new Promise((resolve) => waiting.push(resolve) === 1 && setImmediate(beginSome));
}

/** What all transmissions of a sender share. */
type TransmissionParts = {
  /** Takes a URL apart; null for one that deliveries may not go to. */
  targetOf: (url: string) => Target | null;
  dns: DnsCache;
  pool: ConnectionPool<Connection>;
  paceConnecting: () => Promise<void>;
  connect: Connector;
  onResent: () => void;
  onBlocked: (check: AddressCheck) => void;
  timeoutMs: number;
  monotonic: () => number;
};

/** A kept connection to an address that the host has now, and where to connect without one. */
type Route = {
  kept: Connection | undefined;
  /** Undefined where it was not looked up, because the kept connection is used while look-ups fail. */
  location: Location | undefined;
};

/**
 * One call of `send`: look the host up, then use a kept connection or make a new one, and exchange
 * request and answer on it. A kept connection that ends before an answer is replaced once by a new one.
 */
class Transmission {
  readonly #parts: TransmissionParts;
  readonly #request: DeliveryRequest;
  readonly #hooks: SendHooks;
  /** Null where the addresses were known. */
  #dnsMs: number | null = null;

  constructor(parts: TransmissionParts, request: DeliveryRequest, hooks: SendHooks) {
    this.#parts = parts;
    this.#request = request;
    this.#hooks = hooks;
  }

  async run(): Promise<SendResult> {
    const target = this.#parts.targetOf(this.#request.url);
    if (target === null) {
      this.#parts.onBlocked('url');
      return failed(destinationBlocked, 0);
    }
    const { kept, location } = this.#knownRoute(target) ?? (await this.#findRoute(target));
    return kept === undefined ? this.#sendOnNew(target, location) : this.#sendOnKept(kept, target, location);
  }

  async #sendOnKept(kept: Connection, target: Target, location: Location | undefined): Promise<SendResult> {
    // undici looks at a kept connection once more before it writes, in the next check phase of the event loop. Waiting one
    // turn puts a whole poll phase before that, which reads the end of the connection or an answer that came unasked.
    await new Promise<void>((resolve) => setImmediate(resolve));
    const deadline = new Deadline(this.#parts.timeoutMs, this.#spentMs, this.#parts.monotonic);
    const result = await this.#exchange(kept, target, deadline);
    if (result.kind !== 'error' || !result.isRepeatable) return this.#conclude(result, null, deadline);
    if (!result.written) return this.#sendOnNew(target, location);
    return this.#sendAgain(target, location, deadline, result);
  }

  /** Without waiting: of a host whose addresses are known. */
  #knownRoute({ host, origin }: Target): Route | undefined {
    const location = this.#parts.dns.known(host);
    if (location === undefined) return undefined;
    return { kept: location.ok ? this.#parts.pool.acquire(origin, location.addresses) : undefined, location };
  }

  async #findRoute({ host, origin }: Target): Promise<Route> {
    const { dns, pool, timeoutMs } = this.#parts;
    // While the name servers do not answer, a connection that stands is still good.
    const kept = pool.acquire(origin, dns.stale(host));
    if (kept !== undefined) return { kept, location: undefined };
    const location = await this.#lookUp(host, timeoutMs);
    return { kept: pool.acquire(origin, location.ok ? location.addresses : dns.stale(host)), location };
  }

  async #lookUp(host: string, withinMs: number): Promise<Location> {
    const startedAt = this.#parts.monotonic();
    const location = await this.#parts.dns.find(host, withinMs);
    this.#dnsMs = this.#parts.monotonic() - startedAt;
    return location;
  }

  /**
   * The deadline starts when the connection may begin: the wait is our doing, and the receiver has all of its time. A
   * connection that another request has left meanwhile is as good, and costs no handshake.
   */
  async #sendOnNew(target: Target, known: Location | undefined): Promise<SendResult> {
    const { paceConnecting, connect, pool, timeoutMs, monotonic } = this.#parts;
    const location = known ?? (await this.#lookUp(target.host, timeoutMs));
    if (!location.ok) {
      if (location.failure === destinationBlocked) this.#parts.onBlocked('name');
      return failed(location.failure, this.#spentMs, this.#dnsMs);
    }
    await paceConnecting();
    const kept = pool.acquire(target.origin, location.addresses);
    if (kept !== undefined) return this.#sendOnKept(kept, target, location);
    if (!this.#hooks.mayStart()) return notStarted;
    this.#hooks.onConnect?.();
    const deadline = new Deadline(timeoutMs, this.#spentMs, monotonic);
    const connection = connect({ ...target, addresses: location.addresses });
    return this.#conclude(await this.#exchange(connection, target, deadline), connection, deadline);
  }

  /**
   * The receiver ended the kept connection without an answer, as servers do that close idle connections unannounced. The
   * request goes out once more, on a new connection and within the same deadline. Where that is not possible the first
   * end is the result, never `not_started`: the receiver may have seen the request.
   */
  async #sendAgain(
    target: Target,
    known: Location | undefined,
    deadline: Deadline,
    ended: ExchangeResult,
  ): Promise<SendResult> {
    const { paceConnecting, connect, onResent } = this.#parts;
    const location = known ?? (await this.#lookUp(target.host, deadline.remainingMs));
    if (!location.ok) return failed(location.failure, deadline.elapsedMs, this.#dnsMs);
    await paceConnecting();
    if (deadline.hasPassed || !this.#hooks.mayStart()) return this.#conclude(ended, null, deadline);
    onResent();
    const connection = connect({ ...target, addresses: location.addresses });
    const result = await this.#exchange(connection, target, deadline);
    if (result.kind === 'not_started') return this.#conclude(ended, null, deadline);
    return this.#conclude(result, connection, deadline);
  }

  /** One request on one connection, which is kept for the next request or ended. */
  async #exchange(connection: Connection, { path }: Target, deadline: Deadline): Promise<ExchangeResult> {
    const { mayStart } = this.#hooks;
    const { headers, body } = this.#request;
    const exchange = new Exchange(connection, { deadline, monotonic: this.#parts.monotonic, mayStart });
    exchange.start(path, { headers, body });
    const result = await exchange.result;
    const isReusable = result.kind === 'response' ? result.isWhole : result.kind === 'not_started';
    if (isReusable && connection.isOpen()) this.#parts.pool.release(connection);
    else connection.destroy();
    return result;
  }

  /** @param connection the one that was made for this request; null for a kept one */
  #conclude(result: ExchangeResult, connection: Connection | null, deadline: Deadline): SendResult {
    if (result.kind === 'not_started') return notStarted;
    const timings = {
      dns_ms: connection === null ? null : rounded(this.#dnsMs),
      connect_ms: rounded(connection?.connectMs ?? null),
      tls_ms: rounded(connection?.tlsMs ?? null),
      first_byte_ms: rounded(result.firstByteMs),
    };
    if (result.kind === 'error') return { ...failed(result.failure, deadline.elapsedMs), timings };
    return { kind: 'response', ...result.answer, durationMs: Math.round(result.answeredMs), timings };
  }

  /** What the look-up took of the deadline. */
  get #spentMs(): number {
    return this.#dnsMs ?? 0;
  }
}

const notStarted: SendResult = { kind: 'not_started' };

function failed({ code, message, localCause }: Failure, ms: number, dnsMs: number | null = null): SendFailure {
  const timings: Timings = { dns_ms: rounded(dnsMs), connect_ms: null, tls_ms: null, first_byte_ms: null };
  return { kind: 'error', code, message, localCause: localCause ?? null, durationMs: Math.round(ms), timings };
}

function rounded(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms);
}
