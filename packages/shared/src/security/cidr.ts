import { type AddressBytes, addressBytes, addressText, isMapped, unmapped } from './ip-address.ts';

/** A range of addresses. Bits after the prefix are zero. */
export type Cidr = { network: AddressBytes; prefixLength: number };

/**
 * Reads `10.0.0.0/8`, `2001:db8::/32` or a single address. Host bits are masked away (`10.1.2.3/8` is `10.0.0.0/8`):
 * people write the address of an interface with its prefix and mean its network. An IPv4-mapped range
 * (`::ffff:10.0.0.0/104`) is its IPv4 range. Null for everything else, also for zone ids, ports and `10/8`.
 */
export function parseCidr(text: string): Cidr | null {
  const [address = '', prefix, ...rest] = text.split('/');
  const bytes = addressBytes(address);
  if (bytes === null || rest.length > 0) return null;
  const width = bytes.length * 8;
  if (prefix === undefined) return masked(bytes, width);
  if (!/^(?:0|[1-9]\d{0,2})$/.test(prefix) || Number(prefix) > width) return null;
  return masked(bytes, Number(prefix));
}

/** The canonical spelling of a range, in which it is stored and compared. A single address has no prefix. */
function formatCidr({ network, prefixLength }: Cidr): string {
  const text = addressText(network);
  return prefixLength === network.length * 8 ? text : `${text}/${prefixLength}`;
}

/** Whether the address lies in the range. IPv4 never matches IPv6: unmap mapped addresses first. */
export function contains({ network, prefixLength }: Cidr, address: AddressBytes): boolean {
  if (network.length !== address.length) return false;
  const whole = prefixLength >> 3;
  for (let index = 0; index < whole; index += 1) {
    if (network[index] !== address[index]) return false;
  }
  const rest = prefixLength & 7;
  return rest === 0 || (((network[whole] ?? 0) ^ (address[whole] ?? 0)) & (0xff << (8 - rest))) === 0;
}

/**
 * The canonical form of an address that names a client: an IPv4-mapped IPv6 address is its IPv4 address, so that one
 * client has one address whatever socket it came through. Null for text that is not exactly one address.
 */
export function canonicalAddress(text: string): string | null {
  const bytes = addressBytes(text);
  return bytes === null ? null : addressText(unmapped(bytes));
}

/** The canonical spelling of a range or address, as keys' allowlists store it; null for any other text. */
export function canonicalCidr(text: string): string | null {
  const cidr = parseCidr(text);
  return cidr === null ? null : formatCidr(cidr);
}

/** Whether the range or address contains the address; IPv4-mapped forms count as IPv4. False for malformed text. */
export function cidrContains(cidr: string, address: string): boolean {
  const range = parseCidr(cidr);
  const bytes = addressBytes(address);
  return range !== null && bytes !== null && contains(range, unmapped(bytes));
}

function masked(bytes: AddressBytes, prefixLength: number): Cidr {
  if (isMapped(bytes) && prefixLength >= 96) return masked(unmapped(bytes), prefixLength - 96);
  const network = bytes.map((byte, index) => {
    const kept = Math.min(8, Math.max(0, prefixLength - 8 * index));
    return byte & (0xff << (8 - kept));
  });
  return { network, prefixLength };
}
