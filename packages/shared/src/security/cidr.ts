import { isIPv4, isIPv6, SocketAddress } from 'node:net';

/**
 * An address as a number, because one address has many spellings. An IPv4 address counts as its IPv4-mapped IPv6
 * address (`::ffff:0:0/96`).
 */
export type AddressNumber = bigint;

/** All addresses that differ from `network` only in the last `hostBits` bits. */
export type Cidr = { network: AddressNumber; hostBits: number };

const ipv4Bits = 32;
const ipv6Bits = 128;
const hextets = 8;

/** The number of an IP literal. Null for any other text, including an IPv6 zone id (`%eth0`), brackets or a port. */
export function addressNumber(text: string): AddressNumber | null {
  const address = isIPv4(text) ? `::ffff:${text}` : text;
  if (!isIPv6(address) || address.includes('%')) return null;
  // The URL parser converts a dotted IPv4 tail to hexadecimal.
  const sides = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const [before = [], after = []] = sides.map((side) => side.split(':').filter((hextet) => hextet !== ''));
  const zeros = Array.from({ length: hextets - before.length - after.length }, () => '0');
  return BigInt(`0x${[...before, ...zeros, ...after].map((hextet) => hextet.padStart(4, '0')).join('')}`);
}

export function isIpv4Number(address: AddressNumber): boolean {
  return address >> BigInt(ipv4Bits) === 0xffffn;
}

/**
 * Reads `10.0.0.0/8`, `2001:db8::/32` or a single address. Masks host bits (`10.1.2.3/8` becomes `10.0.0.0/8`), because
 * people write an interface's address with its prefix and mean its network. An IPv4-mapped range
 * (`::ffff:10.0.0.0/104`) becomes its IPv4 range. Returns null for all other text, including zone ids, ports and
 * `10/8`.
 */
export function parseCidr(text: string): Cidr | null {
  const [address = '', prefix, ...rest] = text.split('/');
  const number = addressNumber(address);
  if (number === null || rest.length > 0) return null;
  if (prefix === undefined) return { network: number, hostBits: 0 };
  const hostBits = widthOf(address) - Number(prefix);
  if (!/^(?:0|[1-9]\d{0,2})$/.test(prefix) || hostBits < 0) return null;
  return { network: (number >> BigInt(hostBits)) << BigInt(hostBits), hostBits };
}

/** An IPv6 range, even `::/0`, contains no IPv4 address. */
export function contains({ network, hostBits }: Cidr, address: AddressNumber): boolean {
  if (hostBits > ipv4Bits && isIpv4Number(address)) return false;
  return address >> BigInt(hostBits) === network >> BigInt(hostBits);
}

/**
 * The canonical form of a client's address: dotted decimal, or IPv6 in lower case and compressed (RFC 5952). An
 * IPv4-mapped IPv6 address becomes its IPv4 address, so that a client has one address on every socket. Null unless the
 * text is exactly one address.
 */
export function canonicalAddress(text: string): string | null {
  if (isIPv4(text)) return text;
  if (!isIPv6(text) || text.includes('%')) return null;
  return new SocketAddress({ address: text, family: 'ipv6' }).address.replace(/^::ffff:(?=.*\.)/, '');
}

/** The canonical spelling of a range or address, as keys' allowlists store it. Null for any other text. */
export function canonicalCidr(text: string): string | null {
  const cidr = parseCidr(text);
  if (cidr === null) return null;
  const groups =
    cidr.network
      .toString(16)
      .padStart(4 * hextets, '0')
      .match(/.{4}/g) ?? [];
  const network = canonicalAddress(groups.join(':')) ?? '';
  return cidr.hostBits === 0 ? network : `${network}/${widthOf(network) - cidr.hostBits}`;
}

/** True if the range or address contains the address. IPv4-mapped forms count as IPv4. False for malformed text. */
export function cidrContains(cidr: string, address: string): boolean {
  const range = parseCidr(cidr);
  const number = addressNumber(address);
  return range !== null && number !== null && contains(range, number);
}

function widthOf(address: string): number {
  return isIPv4(address) ? ipv4Bits : ipv6Bits;
}
