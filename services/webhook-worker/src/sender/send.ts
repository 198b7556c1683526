import { Resolver } from 'node:dns/promises';
import type { AddressPolicy } from '@enterprise-api/shared/security';
import { Connection, type ConnectionParts, ConnectionPool, createTrust } from './connection.ts';
import { createTargets, DnsCache, type Location, type Target } from './destination.ts';
import { type DeliveryRequest, Exchange, type SendFailure, type SendResult } from './exchange.ts';
import { destinationBlocked, type Failure, OutageRecord } from './failures.ts';

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

/** Sends deliveries. Never throws or rejects, whatever a receiver, a name server or a URL does. */
export type Sender = {
  send(request: DeliveryRequest, hooks: SendHooks): Promise<SendResult>;
  /** Closes every idle connection. Requests under way end by themselves. */
  close(): void;
};

export type SenderOptions = {
  /** Which addresses may be reached. */
  policy: AddressPolicy;
  /** One deadline over DNS, connect, TLS, send and answer. The wait to connect does not count. */
  timeoutMs: number;
  /** PEM certificates of authorities trusted in addition to the usual ones (`WEBHOOK_CA_FILE`). */
  ca?: string | undefined;
  /** By default asks the name servers of the system. */
  resolver?: Resolver;
  /** Told of each request that is sent once more because its kept connection ended before an answer. */
  onResent?: () => void;
  /** Told of each request that the rules for addresses refuse, and which check refused: of the URL, its name, or the peer. */
  onBlocked?: (check: 'url' | 'name' | 'connection') => void;
};

/** Connections kept for their next request, over all receivers. */
const maxIdleConnections = 2_000;
const askNameServerMs = 2_000;

/**
 * Sends deliveries; nothing else in the worker connects to a receiver. Addresses are checked twice, redirects are not
 * followed, and there are no proxies, cookies or decompression. One deadline ends every request, whatever a receiver does.
 */
export function createSender(options: SenderOptions): Sender {
  const { policy, timeoutMs, ca, onResent = () => undefined, onBlocked = () => undefined } = options;
  const times = { timeout: askNameServerMs, maxTimeout: askNameServerMs, tries: 2 };
  const resolver = options.resolver ?? new Resolver(times);
  const pool = new ConnectionPool<Connection>(maxIdleConnections);
  const parts = {
    targetOf: createTargets(policy),
    timeoutMs,
    onResent,
    onBlocked,
    dns: new DnsCache(resolver, policy),
    pool,
    paceConnecting: createConnectPacing(),
    connection: {
      policy,
      secureContext: createTrust(ca),
      outages: { 4: new OutageRecord(), 6: new OutageRecord() },
      onBlocked: () => onBlocked('connection'),
      onClose: (connection: Connection) => pool.remove(connection),
    },
  };
  return {
    send: (request, hooks) => new Transmission(parts, request, hooks).run(),
    close: () => {
      pool.destroyAll();
      resolver.cancel();
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
type TransmissionParts = Required<Pick<SenderOptions, 'timeoutMs' | 'onResent' | 'onBlocked'>> & {
  targetOf: (url: string) => Target | null;
  dns: DnsCache;
  pool: ConnectionPool<Connection>;
  paceConnecting: () => Promise<void>;
  connection: ConnectionParts;
};

/**
 * One call of `send`: look the host up, then use a kept connection or make a new one, and exchange request and answer on
 * it. A kept connection that ends before an answer is replaced once by a new one, within the same deadline.
 */
class Transmission {
  readonly #parts: TransmissionParts;
  readonly #request: DeliveryRequest;
  readonly #hooks: SendHooks;
  #location: Location | undefined;
  /** What the look-up took of the deadline. */
  #dnsMs = 0;
  #startedAt = 0;
  /** How a kept connection ended that the request was written to. The receiver may have seen it. */
  #ended: SendResult | undefined;

  constructor(parts: TransmissionParts, request: DeliveryRequest, hooks: SendHooks) {
    this.#parts = parts;
    this.#request = request;
    this.#hooks = hooks;
  }

  async run(): Promise<SendResult> {
    const target = this.#parts.targetOf(this.#request.url);
    if (target !== null) return this.#send(target, await this.#findKept(target));
    this.#parts.onBlocked('url');
    return failed(destinationBlocked, 0);
  }

  /** A kept connection to an address that the host has now. */
  async #findKept({ host, origin }: Target): Promise<Connection | undefined> {
    const { dns, pool } = this.#parts;
    this.#location = dns.known(host);
    if (this.#location === undefined) {
      // While the name servers do not answer, a connection that stands is still good.
      const kept = pool.acquire(origin, dns.stale(host));
      if (kept !== undefined) return kept;
    }
    const location = await this.#locate(host);
    return pool.acquire(origin, location.ok ? location.addresses : dns.stale(host));
  }

  async #locate(host: string): Promise<Location> {
    if (this.#location === undefined) {
      const startedAt = performance.now();
      this.#location = await this.#parts.dns.find(host, this.#leftMs);
      this.#dnsMs = performance.now() - startedAt;
    }
    return this.#location;
  }

  async #send(target: Target, kept: Connection | undefined): Promise<SendResult> {
    if (kept === undefined) return this.#sendOnNew(target);
    // undici looks at a kept connection once more before it writes, in the next check phase of the event loop. Waiting one
    // turn puts a whole poll phase before that, which reads the end of the connection or an answer that came unasked.
    await new Promise<void>((resolve) => setImmediate(resolve));
    const { exchange, result } = await this.#exchange(kept, target);
    if (!exchange.isRepeatable) return result;
    if (exchange.isWritten) this.#ended = result;
    return this.#sendOnNew(target);
  }

  /** The deadline starts when the connection may begin: the wait is our doing, and the receiver has all of its time. */
  async #sendOnNew(target: Target): Promise<SendResult> {
    const { pool, paceConnecting, connection, onBlocked, onResent } = this.#parts;
    const location = await this.#locate(target.host);
    if (!location.ok) {
      if (location.failure === destinationBlocked) onBlocked('name');
      const sinceMs = this.#ended === undefined ? this.#dnsMs : performance.now() - this.#startedAt;
      return failed(location.failure, sinceMs, this.#dnsMs);
    }
    await paceConnecting();
    if (this.#ended === undefined) {
      // A connection that another request has left meanwhile is as good, and costs no handshake.
      const kept = pool.acquire(target.origin, location.addresses);
      if (kept !== undefined) return this.#send(target, kept);
    }
    if (this.#leftMs === 0 || !this.#hooks.mayStart()) return this.#ended ?? notStarted;
    if (this.#ended === undefined) this.#hooks.onConnect?.();
    else onResent();
    const route = { ...target, addresses: location.addresses };
    const { result } = await this.#exchange(new Connection(route, Math.round(this.#dnsMs), connection), target);
    return result.kind === 'not_started' ? (this.#ended ?? result) : result;
  }

  /** One request on one connection, which is kept for the next request or ended. */
  async #exchange(connection: Connection, { path }: Target): Promise<{ exchange: Exchange; result: SendResult }> {
    if (this.#ended === undefined) this.#startedAt = performance.now() - this.#dnsMs;
    const { timeoutMs, pool } = this.#parts;
    const { mayStart } = this.#hooks;
    const exchange = new Exchange(connection, { startedAt: this.#startedAt, timeoutMs, mayStart });
    const result = await exchange.send(path, this.#request);
    if (exchange.isReusable && connection.isOpen()) {
      connection.becomeIdle();
      pool.release(connection);
    } else {
      connection.destroy();
    }
    return { exchange, result };
  }

  /** Of the deadline, once it has begun. */
  get #leftMs(): number {
    const { timeoutMs } = this.#parts;
    return this.#ended === undefined ? timeoutMs : Math.max(0, this.#startedAt + timeoutMs - performance.now());
  }
}

const notStarted: SendResult = { kind: 'not_started' };

function failed(failure: Failure, durationMs: number, dnsMs: number | null = null): SendFailure {
  const dns_ms = dnsMs === null ? null : Math.round(dnsMs);
  const timings = { dns_ms, connect_ms: null, tls_ms: null, first_byte_ms: null };
  return { kind: 'error', ...failure, durationMs: Math.round(durationMs), timings };
}
