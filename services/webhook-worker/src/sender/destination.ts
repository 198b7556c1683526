import type { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { BoundedMap, withTimeout } from '@enterprise-api/shared/runtime';
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

/** A webhook's URL, taken apart. */
export type Target = {
  origin: string;
  /** Name or IP literal, without brackets. */
  host: string;
  port: number;
  /** Path and query, as they go into the request line. */
  path: string;
};

/** URLs taken apart, and names in the DNS cache. */
const maxEntries = 10_000;

/**
 * Takes URLs apart, each once. A URL is checked again as at its registration: the rules may have changed since.
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
  return { origin, host: hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(port || 443), path: pathname + search };
}

/** Where a host can be reached: the addresses to hand to the socket, each one permitted; or why there is none. */
export type Location = { ok: true; addresses: readonly string[] } | { ok: false; failure: Failure };

/** All addresses of a name are checked; this many are kept. */
const maxAddresses = 16;
/** An answer is kept for its own time to live, and at most this long: enough for one look-up per burst. */
const maxKeptMs = 5_000;

/** `isFailing`: the last look-up brought no answer about the name. */
type Entry = { location: Location; expiresAt: number; isFailing: boolean };

/**
 * The first of the two address checks (the connection has the second): a name is refused if **any** of its addresses is
 * forbidden. No legitimate name mixes public and private addresses, and using the permitted ones would let an attacker
 * choose which answer we act on. Asks over DNS alone (no hosts file), not by `dns.lookup`, which has at most two useful
 * threads: two names whose servers are silent would block every other name for ten seconds.
 */
export class DnsCache {
  readonly #resolver: Pick<Resolver, 'resolve4' | 'resolve6'>;
  readonly #policy: AddressPolicy;
  readonly #entries = new BoundedMap<string, Entry>(maxEntries);
  /** Look-ups under way, by name. */
  readonly #lookUps = new Map<string, Promise<Location>>();
  readonly #outages = new OutageRecord();

  constructor(resolver: Pick<Resolver, 'resolve4' | 'resolve6'>, policy: AddressPolicy) {
    this.#resolver = resolver;
    this.#policy = policy;
  }

  /** What is known without a look-up: an IP literal, `localhost` (RFC 6761), or a name looked up a moment ago. */
  known(host: string): Location | undefined {
    const entry = this.#entries.get(host);
    if (entry !== undefined && entry.expiresAt > performance.now()) return entry.location;
    if (isIP(host) !== 0) return this.#keep(host, [host], Number.POSITIVE_INFINITY);
    if (!/(?:^|\.)localhost$/.test(host)) return undefined;
    // An operator may have allowed only one of the two.
    const permitted = ['127.0.0.1', '::1'].filter((address) => this.#policy.permits(address));
    return this.#keep(host, permitted, Number.POSITIVE_INFINITY);
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
    return entry.location.addresses.filter((address) => this.#policy.permits(address));
  }

  #lookUpOnce(host: string): Promise<Location> {
    const lookUp = this.#lookUps.get(host) ?? this.#lookUp(host).finally(() => this.#lookUps.delete(host));
    this.#lookUps.set(host, lookUp);
    return lookUp;
  }

  async #lookUp(host: string): Promise<Location> {
    const [v4, v6] = await askBothFamilies(this.#resolver, host);
    const records = [...v4.records, ...v6.records];
    // Most names have no records of one family: the error of the other one says more.
    const error = codeOf(v4.error) === 'ENODATA' ? v6.error : v4.error;
    if (records.length === 0 && isTemporaryDnsError(error)) return this.#noAnswer(host, dnsFailure(error), true);
    this.#outages.succeeded(host);
    if (records.length === 0) {
      this.#entries.delete(host);
      return { ok: false, failure: dnsFailure(error) };
    }
    const ttlMs = 1_000 * Math.min(...records.map(({ ttl }) => ttl));
    return this.#keep(
      host,
      records.map(({ address }) => address),
      Math.min(ttlMs, maxKeptMs),
    );
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

  #keep(host: string, addresses: readonly string[], forMs: number): Location {
    const isPermitted = addresses.length > 0 && addresses.every((address) => this.#policy.permits(address));
    const location: Location = isPermitted
      ? { ok: true, addresses: addresses.slice(0, maxAddresses) }
      : { ok: false, failure: destinationBlocked };
    this.#entries.set(host, { location, expiresAt: performance.now() + forMs, isFailing: false });
    return location;
  }
}

type Answer = { records: { address: string; ttl: number }[]; error?: unknown };

/** How long to wait for the other family once one has answered. */
const graceMs = 1_000;

/** Name servers that ignore questions for one family are common: their silence must not delay the other family's answer. */
async function askBothFamilies(
  resolver: Pick<Resolver, 'resolve4' | 'resolve6'>,
  host: string,
): Promise<[Answer, Answer]> {
  const questions = [resolver.resolve4(host, { ttl: true }), resolver.resolve6(host, { ttl: true })] as const;
  const [v4, v6] = questions.map((question) =>
    question.then(
      (records): Answer => ({ records }),
      (error): Answer => ({ records: [], error }),
    ),
  ) as [Promise<Answer>, Promise<Answer>];
  await Promise.any(questions).catch(() => undefined);
  const within = (answer: Promise<Answer>) => withTimeout(answer, graceMs, (): Answer => ({ records: [] }));
  return Promise.all([within(v4), within(v6)]);
}
