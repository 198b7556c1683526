import { Resolver as DnsResolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { BoundedMap, settledWithin, withTimeout } from '@enterprise-api/shared/runtime';
import { type AddressPolicy, checkOutboundUrl } from '@enterprise-api/shared/security';
import {
  codeOf,
  destinationBlocked,
  dnsFailure,
  type Failure,
  isTemporaryDnsError,
  OutageRecord,
  resolverDown,
} from './failures.ts';

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

/** What the name servers say about a name: every address, IPv4 first, and for how long that holds. */
export type Resolution =
  | { ok: true; addresses: string[]; ttlMs: number }
  /** `isTemporary`: no answer about the name, unlike an answer that it has no address. */
  | { ok: false; failure: Failure; isTemporary: boolean };

export type Resolver = {
  /** Never rejects. */
  resolve(name: string): Promise<Resolution>;
  close(): void;
};

export type ResolverOptions = {
  /** `address` or `address:port`; default: those of the system. */
  servers?: readonly string[];
  timeoutMs?: number;
  tries?: number;
  /** How long to wait for the other family once one has answered. */
  graceMs?: number;
};

type Records = { address: string; ttl: number }[];

/**
 * Resolves names over DNS alone (no hosts file). Not `dns.lookup`, which has at most two useful threads: two names whose
 * servers are silent would block every other name for ten seconds.
 */
export function createResolver(options: ResolverOptions = {}): Resolver {
  const { servers, timeoutMs = 2_000, tries = 2, graceMs = 1_000 } = options;
  const dns = new DnsResolver({ timeout: timeoutMs, tries, maxTimeout: timeoutMs });
  if (servers !== undefined) dns.setServers([...servers]);
  return {
    async resolve(name) {
      const [v4, v6] = await bothFamilies(
        dns.resolve4(name, { ttl: true }),
        dns.resolve6(name, { ttl: true }),
        graceMs,
      );
      const records = [...(v4.records ?? []), ...(v6.records ?? [])];
      if (records.length === 0) {
        // Most names have no records of one family: the error of the other one says more.
        const error = codeOf(v4.error) === 'ENODATA' ? v6.error : v4.error;
        return { ok: false, failure: dnsFailure(error), isTemporary: isTemporaryDnsError(error) };
      }
      const ttlMs = 1_000 * Math.min(...records.map((record) => record.ttl));
      return { ok: true, addresses: records.map((record) => record.address), ttlMs };
    },
    close: () => dns.cancel(),
  };
}

type Family = { records?: Records; error?: unknown };

/** Name servers that ignore questions for one family are common: their silence must not delay the other family's answer. */
async function bothFamilies(v4: Promise<Records>, v6: Promise<Records>, graceMs: number): Promise<[Family, Family]> {
  const families: [Family, Family] = [{}, {}];
  const settled = [v4, v6].map(async (question, index) => {
    try {
      families[index as 0 | 1].records = await question;
    } catch (error) {
      families[index as 0 | 1].error = error;
    }
  });
  const all = Promise.all(settled);
  await Promise.race([all, ...settled]);
  if (families.some((family) => family.records !== undefined)) await settledWithin(all, graceMs);
  else await all;
  return families;
}
