import { isIPv4 } from 'node:net';
import { type AddressNumber, addressNumber, type Cidr, contains, isIpv4Number, parseCidr } from './cidr.ts';

/**
 * Ranges outside the public internet (IANA special-purpose registries), and Azure's metadata address. The IPv6 ranges
 * are protocol assignments (Teredo, ORCHID), documentation and 6to4.
 */
const forbidden = ranges(
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
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
);

/**
 * The only allowed IPv6 addresses: global unicast. This refuses mapped, compatible, translated, NAT64, unique-local,
 * link-local, site-local, multicast and discard addresses.
 */
const globalUnicast = ranges('2000::/3');

export type AddressPolicy = {
  /** True if deliveries may connect to this IP literal; false for other text. */
  permits(address: string): boolean;
  /** True if an operator has allowed private ranges. Webhooks may then also have local host names. */
  readonly allowsPrivate: boolean;
};

export type AddressPolicyOptions = {
  /** Forbidden ranges that deliveries may reach anyway (`WEBHOOK_ALLOWED_PRIVATE_CIDRS`). */
  allowedPrivateCidrs: readonly string[];
};

/**
 * The rule for every outbound connection. Throws if a text is not a range, which is a bug: the settings parser refuses
 * such texts.
 */
export function createAddressPolicy({ allowedPrivateCidrs }: AddressPolicyOptions): AddressPolicy {
  const allowed = ranges(...allowedPrivateCidrs);
  return {
    allowsPrivate: allowed.length > 0,
    permits(address) {
      const number = destinationNumber(address);
      return number !== null && (isPublic(number) || within(allowed, number));
    },
  };
}

/**
 * The number of an IP literal. Null for other text, and for an IPv4-mapped address, because no valid destination has
 * that form.
 */
function destinationNumber(address: string): AddressNumber | null {
  const number = addressNumber(address);
  return number !== null && isIpv4Number(number) && !isIPv4(address) ? null : number;
}

function isPublic(address: AddressNumber): boolean {
  return (isIpv4Number(address) || within(globalUnicast, address)) && !within(forbidden, address);
}

function within(list: readonly Cidr[], address: AddressNumber): boolean {
  return list.some((cidr) => contains(cidr, address));
}

function ranges(...texts: string[]): Cidr[] {
  return texts.map((text) => {
    const cidr = parseCidr(text);
    if (cidr === null) throw new Error(`Not an address range: ${text}`);
    return cidr;
  });
}
