import { isIP } from 'node:net';
import { BoundedMap, withTimeout } from '@enterprise-api/shared/runtime';
import type { AddressPolicy } from '@enterprise-api/shared/security';
import { destinationBlocked, type Failure, resolverDown } from './failures.ts';
import { OutageRecord } from './outage-record.ts';
import type { Resolution, Resolver } from './resolver.ts';

/** Where a host can be reached: the addresses to hand to the socket, each one permitted; or why there is none. */
export type Location = { ok: true; addresses: readonly string[] } | { ok: false; failure: Failure };

export type DnsCache = {
  /** What is known without asking: an IP literal, or a name looked up a moment ago. */
  known(host: string): Location | undefined;
  /** Asks, for at most `withinMs`. Never rejects; simultaneous questions for one name are one. */
  find(host: string, withinMs: number): Promise<Location>;
  /**
   * The last known addresses of a name whose last look-up brought no answer, for connections that stand already; empty
   * for every other name. Asks again in the background.
   */
  stale(host: string): readonly string[];
};

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
const maxEntries = 10_000;
/** RFC 6761: resolved without asking anybody. */
const loopback: Resolution = { ok: true, addresses: ['127.0.0.1', '::1'], ttlMs: Number.POSITIVE_INFINITY };

/** `isFailing`: the last look-up brought no answer about the name. */
type Entry = { location: Location; expiresAt: number; isFailing: boolean };

/**
 * The first of the two address checks (the connector has the second): a name is refused if **any** of its addresses is
 * forbidden. No legitimate name mixes public and private addresses, and using the permitted ones would let an attacker
 * choose which answer we act on.
 */
export function createDnsCache({ resolver, policy, monotonic }: DnsCacheOptions): DnsCache {
  const entries = new BoundedMap<string, Entry>(maxEntries);
  const questions = new Map<string, Promise<Location>>();
  const outages = new OutageRecord(monotonic);

  function keep(host: string, location: Location, forMs: number): Location {
    entries.set(host, { location, expiresAt: monotonic() + forMs, isFailing: false });
    return location;
  }

  /**
   * No answer about a name. It is ours when other names fail too, and when no other name was resolved lately; a name
   * that alone fails is its owner's.
   */
  function noAnswer(host: string, failure: Failure, isOursAlone: boolean): Location {
    const entry = entries.get(host);
    if (entry !== undefined) entry.isFailing = true;
    const isOurs = outages.failed(host) || (isOursAlone && !outages.othersSucceed(host));
    return { ok: false, failure: isOurs ? resolverDown(failure) : failure };
  }

  async function ask(host: string): Promise<Location> {
    const isLoopback = host === 'localhost' || host.endsWith('.localhost');
    const resolution = isLoopback ? loopback : await resolver.resolve(host);
    if (!resolution.ok && resolution.isTemporary) return noAnswer(host, resolution.failure, true);
    if (!isLoopback) outages.succeeded(host);
    if (!resolution.ok) {
      entries.delete(host);
      return { ok: false, failure: resolution.failure };
    }
    const addresses = isLoopback ? permittedOf(resolution.addresses, policy) : resolution.addresses;
    return keep(host, check(addresses, policy), Math.min(resolution.ttlMs, maxKeptMs));
  }

  function askOnce(host: string): Promise<Location> {
    const running = questions.get(host);
    if (running !== undefined) return running;
    const question = ask(host).finally(() => questions.delete(host));
    questions.set(host, question);
    return question;
  }

  return {
    known(host) {
      const entry = entries.get(host);
      if (entry !== undefined && entry.expiresAt > monotonic()) return entry.location;
      return isIP(host) === 0 ? undefined : keep(host, check([host], policy), Number.POSITIVE_INFINITY);
    },
    find: (host, withinMs) =>
      withTimeout(askOnce(host), withinMs, () => {
        const message = `The host name of the URL was not resolved within ${withinMs} ms.`;
        // A deadline shorter than the resolver's own time limits proves little about the name servers.
        return noAnswer(host, { code: 'timeout', message }, false);
      }),
    stale(host) {
      const entry = entries.get(host);
      if (entry === undefined || !entry.isFailing || !entry.location.ok) return [];
      void askOnce(host);
      return entry.location.addresses.filter((address) => policy.permits(address));
    },
  };
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
