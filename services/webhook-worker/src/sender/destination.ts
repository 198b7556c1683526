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

export type Target = {
  origin: string;
  /** Host name or IP literal, without brackets. */
  host: string;
  port: number;
  path: string;
};

/**
 * Parses each URL once. Checks the URL again as at its registration, because the rules may have changed since.
 *
 * @returns null for a URL that deliveries may not reach
 */
export function createTargets(policy: AddressPolicy): (url: string) => Target | null {
  const targets = new BoundedMap<string, Target | null>();
  return (url) => {
    const known = targets.get(url);
    if (known !== undefined) return known;
    const target = checkOutboundUrl(url, policy).ok ? takeApart(new URL(url)) : null;
    targets.set(url, target);
    return target;
  };
}

function takeApart(url: URL): Target {
  const { origin, hostname, pathname, search } = url;
  return { origin, host: hostname.replace(/^\[(.*)\]$/, '$1'), port: portOf(url), path: pathname + search };
}

export const portOf = ({ port }: URL): number => Number(port || 443);

/** The permitted addresses of a host, for the socket, or the reason why the host has none. */
export type Location = { ok: true; addresses: readonly string[] } | { ok: false; failure: Failure };

/** The cache checks all addresses of a name and keeps at most this many. */
const maxAddresses = 16;
/** The cache keeps a DNS answer for its time to live, at most this long. */
const maxKeptMs = 5_000;

/** `isFailing`: the last look-up failed without an answer about the name. */
type Entry = { location: Location; expiresAt: number; isFailing: boolean };

/**
 * Makes the first of two address checks (`Connection` makes the second) and refuses a name if **any** address is
 * forbidden. No legitimate name mixes public and private addresses. If deliveries used only the permitted addresses, an
 * attacker could choose which DNS answer counts.
 * Asks only DNS and reads no hosts file. Avoids `dns.lookup`, which has at most two useful threads: two names with
 * silent servers would block every other name for ten seconds.
 */
export class DnsCache {
  readonly #resolver: Questions;
  readonly #policy: AddressPolicy;
  readonly #entries = new BoundedMap<string, Entry>();
  readonly #lookUps = new Map<string, Promise<Location>>();
  readonly #outages = new OutageRecord();

  constructor(resolver: Questions, policy: AddressPolicy) {
    this.#resolver = resolver;
    this.#policy = policy;
  }

  /** Returns the location of an IP literal, of `localhost` (RFC 6761) and of a name that was looked up recently. */
  known(host: string): Location | undefined {
    const entry = this.#entries.get(host);
    if (entry !== undefined && entry.expiresAt > performance.now()) return entry.location;
    if (isIP(host) !== 0) return this.#keep(host, [host], Number.POSITIVE_INFINITY);
    if (!/(?:^|\.)localhost$/.test(host)) return undefined;
    // An operator may have allowed only one of these addresses.
    const permitted = ['127.0.0.1', '::1'].filter((address) => this.#policy.permits(address));
    return this.#keep(host, permitted, Number.POSITIVE_INFINITY);
  }

  /** Looks a name up, for at most `withinMs`. Never rejects. Simultaneous calls for one name share a look-up. */
  find(host: string, withinMs: number): Promise<Location> {
    return withTimeout(this.#lookUpOnce(host), withinMs, () => {
      const message = `The host name of the URL was not resolved within ${withinMs} ms.`;
      // `withinMs` may be shorter than the resolver's time limits: a timeout proves little about the name servers.
      return this.#noAnswer(host, { code: 'timeout', message }, false);
    });
  }

  /**
   * If the last look-up of a name got no answer, returns the last known addresses and looks the name up in the
   * background. Otherwise returns no addresses.
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
    // Most names lack records of one address family: then the other family's error says more.
    const error = codeOf(v4.error) === 'ENODATA' ? v6.error : v4.error;
    if (records.length === 0 && isTemporaryDnsError(error)) return this.#noAnswer(host, dnsFailure(error), true);
    this.#outages.succeeded(host);
    if (records.length === 0) {
      this.#entries.delete(host);
      return { ok: false, failure: dnsFailure(error) };
    }
    const ttlMs = 1_000 * Math.min(...records.map(({ ttl }) => ttl));
    const addresses = records.map(({ address }) => address);
    return this.#keep(host, addresses, Math.min(ttlMs, maxKeptMs));
  }

  /**
   * Handles a look-up without an answer. The failure is on our side if other names fail too. If no other name fails,
   * the failure is on our side only with `isOursAlone` and if no other name was resolved in the last minute.
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

type Questions = Pick<Resolver, 'resolve4' | 'resolve6'>;
type Answer = { records: { address: string; ttl: number }[]; error?: unknown };

/** Wait this long for the other address family once one has answered. */
const graceMs = 1_000;

/**
 * Asks for both address families. Many name servers ignore questions for one family, and their silence must not delay
 * the other family's answer.
 */
async function askBothFamilies(resolver: Questions, host: string): Promise<[Answer, Answer]> {
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
