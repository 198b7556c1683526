import { isIPv4, isIPv6, SocketAddress } from 'node:net';

/**
 * An address as bytes: 4 or 16 of them. Rules are applied to bytes and never to text, because one address has many
 * spellings.
 */
export type AddressBytes = Uint8Array;

/** The bytes of an IP literal; null for any other text, also with an IPv6 zone id (`%eth0`), brackets or a port. */
export function addressBytes(text: string): AddressBytes | null {
  if (isIPv4(text)) return Uint8Array.from(text.split('.'), Number);
  if (!isIPv6(text) || text.includes('%')) return null;
  const [head = '', tail] = text.split('::');
  const before = hextets(head);
  const after = hextets(tail ?? '');
  const bytes = new Uint8Array(16);
  const view = new DataView(bytes.buffer);
  before.forEach((hextet, index) => {
    view.setUint16(2 * index, hextet);
  });
  after.forEach((hextet, index) => {
    view.setUint16(16 - 2 * (after.length - index), hextet);
  });
  return bytes;
}

/** The one canonical spelling of an address: dotted decimal, or IPv6 in lower case and compressed (RFC 5952). */
export function addressText(bytes: AddressBytes): string {
  if (bytes.length === 4) return bytes.join('.');
  const view = new DataView(bytes.buffer, bytes.byteOffset, 16);
  const full = Array.from({ length: 8 }, (_, index) => view.getUint16(2 * index).toString(16)).join(':');
  return new SocketAddress({ address: full, family: 'ipv6' }).address;
}

/** The IPv4 address inside an IPv4-mapped one (`::ffff:0:0/96`); any other address as it is. */
export function unmapped(bytes: AddressBytes): AddressBytes {
  return isMapped(bytes) ? bytes.subarray(12) : bytes;
}

export function isMapped(bytes: AddressBytes): boolean {
  return bytes.length === 16 && bytes[10] === 0xff && bytes[11] === 0xff && bytes.subarray(0, 10).every((b) => b === 0);
}

/** The hextets of one side of `::`, a dotted tail included. */
function hextets(text: string): number[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    if (!group.includes('.')) return [Number.parseInt(group, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number);
    return [a * 256 + b, c * 256 + d];
  });
}
