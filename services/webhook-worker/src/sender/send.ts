import { Resolver } from 'node:dns/promises';
import type { AddressPolicy } from '@enterprise-api/shared/security';
import { Connection, type ConnectionParts, ConnectionPool, createConnectPacing, createTrust } from './connection.ts';
import { createTargets, DnsCache, type Location, type Target } from './destination.ts';
import { type DeliveryRequest, Exchange, type ExchangeOptions, type SendFailure, type SendResult } from './exchange.ts';
import { destinationBlocked, type Failure } from './failures.ts';

/**
 * The sender calls `mayStart` before it makes a connection, and right before the first byte. If `mayStart` returns
 * `false`, the attempt ends as `not_started` and sends nothing.
 */
export type SendHooks = Pick<ExchangeOptions, 'mayStart'>;

export type Sender = ReturnType<typeof createSender>;

export type SenderOptions = {
  policy: AddressPolicy;
  /** One deadline over DNS, connect, TLS, request and response. Excludes `paceConnecting`. */
  timeoutMs: number;
  /** PEM certificates of authorities trusted in addition to the default ones (`WEBHOOK_CA_FILE`). */
  ca?: string | undefined;
  resolver?: Resolver;
  /** Called for each request that is sent again because its reused connection ended before a response. */
  onResent?: () => void;
  /** Called for each request that the address rules refuse, with the check that failed. */
  onBlocked?: (check: 'url' | 'name' | 'connection') => void;
};

const maxIdleConnections = 2_000;
const askNameServerMs = 2_000;

/**
 * Sends deliveries; nothing else in the worker connects to a receiver. Checks addresses twice and follows no redirects.
 * Uses no proxies, cookies or decompression. One deadline ends every request, whatever a receiver does.
 */
export function createSender(options: SenderOptions) {
  const { policy, ca, onBlocked } = options;
  const times = { timeout: askNameServerMs, maxTimeout: askNameServerMs, tries: 2 };
  const resolver = options.resolver ?? new Resolver(times);
  const pool = new ConnectionPool<Connection>(maxIdleConnections);
  const parts = {
    ...options,
    targetOf: createTargets(policy),
    dns: new DnsCache(resolver, policy),
    pool,
    paceConnecting: createConnectPacing(),
    connection: {
      policy,
      secureContext: createTrust(ca),
      outages: new Map(),
      onBlocked: () => onBlocked?.('connection'),
      onClose: (connection: Connection) => pool.remove(connection),
    },
  };
  return {
    /** Never throws or rejects, whatever a receiver, a name server or a URL does. */
    send: (request: DeliveryRequest, hooks: SendHooks): Promise<SendResult> =>
      new Transmission(parts, request, hooks).run(),
    /** Closes every idle connection. Running requests continue to their end. */
    close: (): void => {
      pool.destroyAll();
      resolver.cancel();
    },
  };
}

type TransmissionParts = Pick<SenderOptions, 'timeoutMs' | 'onResent' | 'onBlocked'> & {
  targetOf: (url: string) => Target | null;
  dns: DnsCache;
  pool: ConnectionPool<Connection>;
  paceConnecting: () => Promise<void>;
  connection: ConnectionParts;
};

/**
 * One call of `send`: looks up the host, reuses or makes a connection, and exchanges request and response. If a reused
 * connection ends before a response, one new connection replaces it within the same deadline.
 */
class Transmission {
  readonly #parts: TransmissionParts;
  readonly #request: DeliveryRequest;
  readonly #hooks: SendHooks;
  #location: Location | undefined;
  #dnsMs = 0;
  #startedAt = 0;
  /** The result if a reused connection ended after the request was written. The receiver may have seen the request. */
  #ended: SendResult | undefined;

  constructor(parts: TransmissionParts, request: DeliveryRequest, hooks: SendHooks) {
    this.#parts = parts;
    this.#request = request;
    this.#hooks = hooks;
  }

  async run(): Promise<SendResult> {
    const target = this.#parts.targetOf(this.#request.url);
    if (target !== null) return this.#send(target, await this.#findKept(target));
    this.#parts.onBlocked?.('url');
    return failed(destinationBlocked, 0);
  }

  async #findKept({ host, origin }: Target): Promise<Connection | undefined> {
    const { dns, pool } = this.#parts;
    this.#location = dns.known(host);
    if (this.#location === undefined) {
      // While the name servers do not answer, a kept connection is still usable.
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
    // undici checks a reused connection once more before it writes, in the next check phase of the event loop. One
    // `setImmediate` puts a whole poll phase before that check. In the poll phase, Node.js reads the connection's end
    // or an unexpected response.
    await new Promise<void>((resolve) => setImmediate(resolve));
    const { exchange, result } = await this.#exchange(kept, target);
    if (!exchange.isRepeatable) return result;
    if (exchange.isWritten) this.#ended = result;
    return this.#sendOnNew(target);
  }

  /** Unless the deadline already runs, it starts after the wait to connect, because the worker causes this wait. */
  async #sendOnNew(target: Target): Promise<SendResult> {
    const { pool, paceConnecting, connection, onBlocked, onResent } = this.#parts;
    const location = await this.#locate(target.host);
    if (!location.ok) {
      if (location.failure === destinationBlocked) onBlocked?.('name');
      const sinceMs = this.#ended === undefined ? this.#dnsMs : performance.now() - this.#startedAt;
      return failed(location.failure, sinceMs, this.#dnsMs);
    }
    await paceConnecting();
    if (this.#ended === undefined) {
      // Another request may have released a connection meanwhile: reusing it saves a handshake.
      const kept = pool.acquire(target.origin, location.addresses);
      if (kept !== undefined) return this.#send(target, kept);
    }
    if (this.#leftMs === 0 || !this.#hooks.mayStart()) return this.#ended ?? { kind: 'not_started' };
    if (this.#ended !== undefined) onResent?.();
    const route = { ...target, addresses: location.addresses };
    const { result } = await this.#exchange(new Connection(route, Math.round(this.#dnsMs), connection), target);
    return result.kind === 'not_started' ? (this.#ended ?? result) : result;
  }

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

  /** Milliseconds until the deadline; the whole timeout while the deadline has not started. */
  get #leftMs(): number {
    const { timeoutMs } = this.#parts;
    return this.#ended === undefined ? timeoutMs : Math.max(0, this.#startedAt + timeoutMs - performance.now());
  }
}

function failed(failure: Failure, durationMs: number, dnsMs: number | null = null): SendFailure {
  const dns_ms = dnsMs === null ? null : Math.round(dnsMs);
  const timings = { dns_ms, connect_ms: null, tls_ms: null, first_byte_ms: null };
  return { kind: 'error', ...failure, durationMs: Math.round(durationMs), timings, remoteAddress: null };
}
