import { isIP } from 'node:net';
import type { AddressPolicy } from '@enterprise-api/shared/security';
import { destinationBlocked, type Failure } from './failures.ts';
import type { Resolver } from './resolver.ts';

/** Where a host may be reached: the addresses to hand to the socket, every one vetted; or why there is none. */
export type Location = { ok: true; addresses: readonly string[] } | { ok: false; failure: Failure };

/** Says where hosts are. */
export type AddressBook = {
  /** What is known without asking: an IP literal, or a name looked up a moment ago. */
  known(host: string): Location | undefined;
  /** Asks. Never rejects; questions for one name at the same time are one. */
  find(host: string): Promise<Location>;
};

export type AddressBookOptions = {
  resolver: Pick<Resolver, 'resolve'>;
  policy: AddressPolicy;
  /** The monotonic clock, milliseconds. */
  monotonic: () => number;
};

/** All addresses of a name are vetted; this many are kept. */
const maxAddresses = 16;
/** A name server's word is kept for its own time, and at most this long: enough for one lookup per burst. */
const maxKeptMs = 5_000;
const maxEntries = 10_000;

/**
 * The first of the two address checks (the connector has the other): a name is refused if **any** of its addresses is
 * forbidden. Nobody legitimate mixes, and picking the good ones would leave a game to play.
 */
export function createAddressBook({ resolver, policy, monotonic }: AddressBookOptions): AddressBook {
  const entries = new Map<string, { location: Location; expiresAt: number }>();
  const questions = new Map<string, Promise<Location>>();

  function keep(host: string, location: Location, forMs: number): Location {
    entries.delete(host);
    if (entries.size >= maxEntries) entries.delete(entries.keys().next().value ?? '');
    entries.set(host, { location, expiresAt: monotonic() + forMs });
    return location;
  }

  async function ask(host: string): Promise<Location> {
    const resolution = await resolver.resolve(host);
    if (!resolution.ok) return { ok: false, failure: resolution.failure };
    const location = vet(addressesOf(host, resolution.addresses, policy), policy);
    const forMs = Math.min(resolution.ttlMs, maxKeptMs);
    return forMs > 0 ? keep(host, location, forMs) : location;
  }

  return {
    known(host) {
      const entry = entries.get(host);
      if (entry !== undefined && entry.expiresAt > monotonic()) return entry.location;
      return isIP(host) === 0 ? undefined : keep(host, vet([host], policy), Number.POSITIVE_INFINITY);
    },
    find(host) {
      const running = questions.get(host);
      if (running !== undefined) return running;
      const question = ask(host).finally(() => questions.delete(host));
      questions.set(host, question);
      return question;
    },
  };
}

function vet(addresses: readonly string[], policy: AddressPolicy): Location {
  if (!addresses.every((address) => policy.permits(address))) return { ok: false, failure: destinationBlocked };
  return { ok: true, addresses: addresses.slice(0, maxAddresses) };
}

/**
 * `localhost` is answered by ourselves with both loopback addresses; an operator who allowed `127.0.0.0/8` and not
 * `::1` has said which one to take.
 */
function addressesOf(host: string, addresses: readonly string[], policy: AddressPolicy): readonly string[] {
  if (host !== 'localhost' && !host.endsWith('.localhost')) return addresses;
  const permitted = addresses.filter((address) => policy.permits(address));
  return permitted.length > 0 ? permitted : addresses;
}
