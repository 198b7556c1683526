import { isIP } from 'node:net';
import { BoundedMap, withTimeout } from '@enterprise-api/shared/runtime';
import { type AddressPolicy, checkOutboundUrl } from '@enterprise-api/shared/security';
import { destinationBlocked, type Failure, resolverDown } from './failures.ts';
import { OutageRecord } from './outage-record.ts';
import type { Resolution, Resolver } from './resolver.ts';

/** URLs taken apart, and names in the DNS cache. */
const maxEntries = 10_000;

/** A webhook's URL, taken apart. */
export type Target = {
  origin: string;
  /** Name or IP literal, without brackets. */
  host: string;
  port: number;
  /** Path and query, as they go into the request line. */
  path: string;
};

/**
 * Takes URLs apart, each once. A URL is checked again here as at its registration: the rules may have changed since.
 *
 * @returns null for a URL that deliveries may not go to
 */
export function createTargets(policy: AddressPolicy): (url: string) => Target | null {
  const targets = new BoundedMap<string, Target | null>(maxEntries);
  return (url) => {
    const known = targets.get(url);
    if (known !== undefined) return known;
    const target = checkOutboundUrl(url, policy).ok ? takeApart(new URL(url)) : null;
    targets.set(url, target);
    return target;
  };
}

function takeApart({ origin, hostname, port, pathname, search }: URL): Target {
  return {
    origin,
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? 443 : Number(port),
    path: pathname + search,
  };
}

/** Where a host can be reached: the addresses to hand to the socket, each one permitted; or why there is none. */
export type Location = { ok: true; addresses: readonly string[] } | { ok: false; failure: Failure };

export type DnsCacheOptions = {
  resolver: Pick<Resolver, 'resolve'>;
  policy: AddressPolicy;
  /** The monotonic clock, milliseconds. */
  monotonic: () => number;
};

/** All addresses of a name are checked; this many are kept. */
const maxAddresses = 16;
/** An answer is kept for its own time to live, and at most this long: enough for one look-up per burst. */
const maxKeptMs = 5_000;
/** RFC 6761: resolved without asking anybody. */
const loopback: Resolution = { ok: true, addresses: ['127.0.0.1', '::1'], ttlMs: Number.POSITIVE_INFINITY };

/** `isFailing`: the last look-up brought no answer about the name. */
type Entry = { location: Location; expiresAt: number; isFailing: boolean };

/**
 * The first of the two address checks (the connector has the second): a name is refused if **any** of its addresses is
 * forbidden. No legitimate name mixes public and private addresses, and using the permitted ones would let an attacker
 * choose which answer we act on.
 */
export class DnsCache {
  readonly #options: DnsCacheOptions;
  readonly #entries = new BoundedMap<string, Entry>(maxEntries);
  /** Look-ups under way, by name. */
  readonly #lookUps = new Map<string, Promise<Location>>();
  readonly #outages: OutageRecord;

  constructor(options: DnsCacheOptions) {
    this.#options = options;
    this.#outages = new OutageRecord(options.monotonic);
  }

  /** What is known without a look-up: an IP literal, or a name looked up a moment ago. */
  known(host: string): Location | undefined {
    const { policy, monotonic } = this.#options;
    const entry = this.#entries.get(host);
    if (entry !== undefined && entry.expiresAt > monotonic()) return entry.location;
    return isIP(host) === 0 ? undefined : this.#keep(host, check([host], policy), Number.POSITIVE_INFINITY);
  }

  /** Looks a name up, for at most `withinMs`. Never rejects; simultaneous look-ups of one name are one. */
  find(host: string, withinMs: number): Promise<Location> {
    return withTimeout(this.#lookUpOnce(host), withinMs, () => {
      const message = `The host name of the URL was not resolved within ${withinMs} ms.`;
      // A deadline shorter than the resolver's own time limits proves little about the name servers.
      return this.#noAnswer(host, { code: 'timeout', message }, false);
    });
  }

  /**
   * The last known addresses of a name whose last look-up brought no answer, for connections that stand already; empty
   * for every other name. Looks the name up again in the background.
   */
  stale(host: string): readonly string[] {
    const entry = this.#entries.get(host);
    if (entry === undefined || !entry.isFailing || !entry.location.ok) return [];
    void this.#lookUpOnce(host);
    return entry.location.addresses.filter((address) => this.#options.policy.permits(address));
  }

  #lookUpOnce(host: string): Promise<Location> {
    const running = this.#lookUps.get(host);
    if (running !== undefined) return running;
    const lookUp = this.#lookUp(host).finally(() => this.#lookUps.delete(host));
    this.#lookUps.set(host, lookUp);
    return lookUp;
  }

  async #lookUp(host: string): Promise<Location> {
    const { resolver, policy } = this.#options;
    const isLoopback = host === 'localhost' || host.endsWith('.localhost');
    const resolution = isLoopback ? loopback : await resolver.resolve(host);
    if (!resolution.ok && resolution.isTemporary) return this.#noAnswer(host, resolution.failure, true);
    if (!isLoopback) this.#outages.succeeded(host);
    if (!resolution.ok) {
      this.#entries.delete(host);
      return { ok: false, failure: resolution.failure };
    }
    const addresses = isLoopback ? permittedOf(resolution.addresses, policy) : resolution.addresses;
    return this.#keep(host, check(addresses, policy), Math.min(resolution.ttlMs, maxKeptMs));
  }

  #keep(host: string, location: Location, forMs: number): Location {
    this.#entries.set(host, { location, expiresAt: this.#options.monotonic() + forMs, isFailing: false });
    return location;
  }

  /**
   * The name servers gave no answer about a name. The failure is ours when other names fail too. When this name fails
   * alone it is ours only if `isOursAlone`, and if no other name was resolved within the last minute.
   */
  #noAnswer(host: string, failure: Failure, isOursAlone: boolean): Location {
    const entry = this.#entries.get(host);
    if (entry !== undefined) entry.isFailing = true;
    const isOurs = this.#outages.failed(host) || (isOursAlone && !this.#outages.othersSucceed(host));
    return { ok: false, failure: isOurs ? resolverDown(failure) : failure };
  }
}

function check(addresses: readonly string[], policy: AddressPolicy): Location {
  if (!addresses.every((address) => policy.permits(address))) return { ok: false, failure: destinationBlocked };
  return { ok: true, addresses: addresses.slice(0, maxAddresses) };
}

/** We answer for `localhost` with both loopback addresses; an operator may have allowed only one of them. */
function permittedOf(addresses: readonly string[], policy: AddressPolicy): readonly string[] {
  const permitted = addresses.filter((address) => policy.permits(address));
  return permitted.length > 0 ? permitted : addresses;
}

/** What the pool needs to know of a connection. */
export type PooledConnection = {
  readonly origin: string;
  /** The remote address; null until it is connected. */
  readonly peer: string | null;
  isOpen(): boolean;
  destroy(): void;
};

/** The number of connections that a busy origin needs varies: one that was idle for so long is spare. */
const spareAfterMs = 1_000;

/**
 * Idle connections, by origin. One is reused only while its peer is among the addresses that the host has now, so that a
 * host that moved takes its deliveries along. Their number is bounded. The first to be closed is a spare one of an origin
 * that has others, then the one that has been idle longest: with a thousand origins, the connections that a busy origin
 * needed once would otherwise push out the only ones of other origins.
 */
export class ConnectionPool<Connection extends PooledConnection> {
  readonly #maxIdle: number;
  readonly #byOrigin = new Map<string, Connection[]>();
  /** In the order in which they became idle. */
  readonly #idle = new Set<Connection>();
  /** All but the first of each origin, and since when they are idle (monotonic). */
  readonly #spare = new Map<Connection, number>();
  readonly #monotonic: () => number;

  constructor(maxIdle: number, monotonic: () => number) {
    this.#maxIdle = maxIdle;
    this.#monotonic = monotonic;
  }

  /** The most recently used idle connection to one of these addresses. It is no longer idle. */
  acquire(origin: string, addresses: readonly string[]): Connection | undefined {
    const idle = this.#byOrigin.get(origin) ?? [];
    for (let index = idle.length - 1; index >= 0; index -= 1) {
      const connection = idle[index];
      if (connection?.peer == null || !connection.isOpen() || !addresses.includes(connection.peer)) continue;
      // The list stays when it becomes empty: the connection will most likely come back.
      this.#remove(idle, index, connection);
      return connection;
    }
    return undefined;
  }

  /** Keeps a connection for the next request. */
  release(connection: Connection): void {
    const idle = this.#byOrigin.get(connection.origin);
    if (idle === undefined) this.#byOrigin.set(connection.origin, [connection]);
    else if (idle.push(connection) > 1) this.#spare.set(connection, this.#monotonic());
    this.#idle.add(connection);
    if (this.#idle.size > this.#maxIdle) this.#dropOldest();
  }

  /** Forgets a connection that has ended, idle or not. */
  remove(connection: Connection): void {
    const idle = this.#byOrigin.get(connection.origin) ?? [];
    const index = idle.lastIndexOf(connection);
    if (index !== -1) this.#remove(idle, index, connection);
    if (idle.length === 0) this.#byOrigin.delete(connection.origin);
  }

  #remove(idle: Connection[], index: number, connection: Connection): void {
    idle.splice(index, 1);
    this.#idle.delete(connection);
    this.#spare.delete(connection);
    const [first] = idle;
    if (first !== undefined) this.#spare.delete(first);
  }

  #dropOldest(): void {
    const [[spare, since] = []] = this.#spare;
    const isSpare = since !== undefined && this.#monotonic() - since >= spareAfterMs;
    const [oldest] = isSpare ? [spare] : this.#idle;
    if (oldest === undefined) return;
    this.remove(oldest);
    oldest.destroy();
  }

  destroyAll(): void {
    while (this.#idle.size > 0) this.#dropOldest();
  }
}
