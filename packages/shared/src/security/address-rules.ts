import { type Cidr, contains, parseCidr } from './cidr.ts';
import { type AddressBytes, addressBytes } from './ip-address.ts';

/** IPv4 ranges outside the public internet (IANA special-purpose registry), and Azure's metadata address. */
const forbiddenIpv4 = ranges(
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '168.63.129.16',
);

/**
 * IPv6 is an allowlist: only global unicast. Mapped, compatible, translated, NAT64, unique-local, link-local,
 * site-local, multicast and discard addresses are outside of it, and therefore refused.
 */
const globalUnicast = ranges('2000::/3');
/** Ranges of global unicast outside the public internet: protocol assignments (Teredo, ORCHID), documentation, 6to4. */
const forbiddenIpv6 = ranges('2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20');

/** Which addresses deliveries may reach. */
export type AddressPolicy = {
  /** Whether this IP literal may be connected to. Text that is no IP literal is not permitted. */
  permits(address: string): boolean;
  /** Whether an operator has allowed private ranges; local names are then accepted at registration too. */
  readonly allowsPrivate: boolean;
};

export type AddressPolicyOptions = {
  /** Otherwise forbidden ranges that deliveries may reach (`WEBHOOK_ALLOWED_PRIVATE_CIDRS`). */
  allowedPrivateCidrs: readonly string[];
  /** Public ranges to refuse all the same, such as a cluster's own. They take precedence over every other rule. */
  refusedCidrs?: readonly string[];
};

/** The rule for every outbound connection. Throws on text that is no range: settings are parsed before. */
export function createAddressPolicy({ allowedPrivateCidrs, refusedCidrs = [] }: AddressPolicyOptions): AddressPolicy {
  const allowed = ranges(...allowedPrivateCidrs);
  const refused = ranges(...refusedCidrs);
  return {
    allowsPrivate: allowed.length > 0,
    permits(address) {
      const bytes = addressBytes(address);
      if (bytes === null || within(refused, bytes)) return false;
      return isPublic(bytes) || within(allowed, bytes);
    },
  };
}

/** Whether an IP literal is an address of the public internet. Text that is no IP literal is not. */
export function isPublicAddress(address: string): boolean {
  const bytes = addressBytes(address);
  return bytes !== null && isPublic(bytes);
}

function isPublic(bytes: AddressBytes): boolean {
  if (bytes.length === 4) return !within(forbiddenIpv4, bytes);
  return within(globalUnicast, bytes) && !within(forbiddenIpv6, bytes);
}

function within(list: readonly Cidr[], bytes: AddressBytes): boolean {
  return list.some((cidr) => contains(cidr, bytes));
}

function ranges(...texts: string[]): Cidr[] {
  return texts.map((text) => {
    const cidr = parseCidr(text);
    if (cidr === null) throw new Error(`Not an address range: ${text}`);
    return cidr;
  });
}
