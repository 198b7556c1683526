import { isIPv4 } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createAddressPolicy } from './address-rules.ts';

const { permits: isPublicAddress } = createAddressPolicy({ allowedPrivateCidrs: [] });

/**
 * The IANA IPv4 and IPv6 Special-Purpose Address Registries (RFC 6890 and its successors), block by block, with their
 * column "Globally Reachable": `yes`, `no`, or `n/a` where the registry does not say.
 */
const registry: readonly [block: string, name: string, reachable: 'yes' | 'no' | 'n/a'][] = [
  ['0.0.0.0/8', 'this network', 'no'],
  ['0.0.0.0/32', 'this host on this network', 'no'],
  ['10.0.0.0/8', 'private use', 'no'],
  ['100.64.0.0/10', 'shared address space', 'no'],
  ['127.0.0.0/8', 'loopback', 'no'],
  ['169.254.0.0/16', 'link local', 'no'],
  ['172.16.0.0/12', 'private use', 'no'],
  ['192.0.0.0/24', 'IETF protocol assignments', 'no'],
  ['192.0.0.0/29', 'IPv4 service continuity', 'no'],
  ['192.0.0.8/32', 'IPv4 dummy address', 'no'],
  ['192.0.0.9/32', 'Port Control Protocol anycast', 'yes'],
  ['192.0.0.10/32', 'Traversal Using Relays around NAT anycast', 'yes'],
  ['192.0.0.170/32', 'NAT64/DNS64 discovery', 'no'],
  ['192.0.0.171/32', 'NAT64/DNS64 discovery', 'no'],
  ['192.0.2.0/24', 'documentation (TEST-NET-1)', 'no'],
  ['192.31.196.0/24', 'AS112-v4', 'yes'],
  ['192.52.193.0/24', 'AMT', 'yes'],
  ['192.88.99.0/24', 'deprecated (6to4 relay anycast)', 'n/a'],
  ['192.168.0.0/16', 'private use', 'no'],
  ['192.175.48.0/24', 'direct delegation AS112 service', 'yes'],
  ['198.18.0.0/15', 'benchmarking', 'no'],
  ['198.51.100.0/24', 'documentation (TEST-NET-2)', 'no'],
  ['203.0.113.0/24', 'documentation (TEST-NET-3)', 'no'],
  ['240.0.0.0/4', 'reserved', 'no'],
  ['255.255.255.255/32', 'limited broadcast', 'no'],
  ['::1/128', 'loopback', 'no'],
  ['::/128', 'unspecified', 'no'],
  ['::ffff:0:0/96', 'IPv4-mapped', 'no'],
  ['64:ff9b::/96', 'IPv4-IPv6 translation', 'yes'],
  ['64:ff9b:1::/48', 'IPv4-IPv6 translation, local', 'no'],
  ['100::/64', 'discard only', 'no'],
  ['100:0:0:1::/64', 'dummy prefix', 'no'],
  ['2001::/23', 'IETF protocol assignments', 'no'],
  ['2001::/32', 'TEREDO', 'n/a'],
  ['2001:1::1/128', 'Port Control Protocol anycast', 'yes'],
  ['2001:1::2/128', 'Traversal Using Relays around NAT anycast', 'yes'],
  ['2001:1::3/128', 'DNS-SD service registration anycast', 'yes'],
  ['2001:2::/48', 'benchmarking', 'no'],
  ['2001:3::/32', 'AMT', 'yes'],
  ['2001:4:112::/48', 'AS112-v6', 'yes'],
  ['2001:10::/28', 'deprecated (ORCHID)', 'n/a'],
  ['2001:20::/28', 'ORCHIDv2', 'yes'],
  ['2001:30::/28', 'drone remote identification tags', 'yes'],
  ['2001:db8::/32', 'documentation', 'no'],
  ['2002::/16', '6to4', 'n/a'],
  ['2620:4f:8000::/48', 'direct delegation AS112 service', 'yes'],
  ['3fff::/20', 'documentation', 'no'],
  ['5f00::/16', 'segment routing identifiers', 'no'],
  ['fc00::/7', 'unique local', 'no'],
  ['fe80::/10', 'link-local unicast', 'no'],
];

/** Refused though the registry above does not speak of them, or calls them reachable. Each with its reason. */
const stricter: readonly [block: string, reason: string][] = [
  ['224.0.0.0/4', 'multicast has a registry of its own'],
  ['168.63.129.16/32', 'a public address that is the metadata service inside one cloud'],
  ['192.0.0.0/24', 'anycast addresses of protocols have no receivers'],
  ['::/3', 'not allocated for unicast: translation to IPv4 (64:ff9b::/96) would lead anywhere'],
  ['4000::/2', 'not allocated for unicast'],
  ['8000::/1', 'not allocated for unicast; local and multicast addresses'],
  ['2001::/23', 'addresses of protocols have no receivers'],
];

describe('the address rule and the special-purpose registries', () => {
  it.each(registry)('%s (%s, globally reachable: %s) is judged alike from its first to its last address', (block) => {
    for (const address of edgesOf(block))
      expect([address, isPublicAddress(address)]).toEqual([address, judge(address)]);
  });

  it('agree on random addresses, inside the blocks and around them', () => {
    const blocks = [...registry, ...stricter].map(([block]) => parse(block));
    const near = fc.constantFrom(...blocks).chain(({ width, network, prefixLength }) => {
      const size = 1n << BigInt(width - prefixLength);
      const max = (1n << BigInt(width)) - 1n;
      const low = network > size ? network - size : 0n;
      const high = network + 2n * size > max ? max : network + 2n * size;
      return fc.bigInt({ min: low, max: high }).map((value) => format(value, width));
    });
    fc.assert(
      fc.property(fc.oneof({ arbitrary: near, weight: 4 }, fc.ipV4(), fc.ipV6()), (address) => {
        expect(isPublicAddress(address)).toBe(judge(address));
      }),
      { numRuns: 2_000 },
    );
  });

  it('differ only where a reason is given', () => {
    const reachable = registry.filter(([, , says]) => says === 'yes').map(([block]) => block);
    const refused = reachable.filter((block) => !isPublicAddress(block.replace(/\/\d+$/, '')));
    const explained = reachable.filter((block) =>
      stricter.some(([outer]) => holds(outer, parse(block).network, block)),
    );
    expect(refused).toEqual(explained);
  });
});

/** The expected answer: refused for a reason of our own, else as the narrowest block around the address says, else public. */
function judge(address: string): boolean {
  const value = numberOf(address);
  if (stricter.some(([block]) => holds(block, value, address))) return false;
  const blocks = registry.filter(([block]) => holds(block, value, address));
  const narrowest = blocks.sort(([a], [b]) => parse(b).prefixLength - parse(a).prefixLength)[0];
  return narrowest === undefined || narrowest[2] === 'yes';
}

function holds(block: string, value: bigint, sameFamilyAs: string): boolean {
  const { width, network, prefixLength } = parse(block);
  const shift = BigInt(width - prefixLength);
  return block.includes(':') === sameFamilyAs.includes(':') && value >> shift === network >> shift;
}

function edgesOf(block: string): string[] {
  const { width, network, prefixLength } = parse(block);
  const last = network + (1n << BigInt(width - prefixLength)) - 1n;
  const max = (1n << BigInt(width)) - 1n;
  const values = [network - 1n, network, network + 1n, (network + last) / 2n, last - 1n, last, last + 1n];
  return values.filter((value) => value >= 0n && value <= max).map((value) => format(value, width));
}

function parse(block: string): { width: number; network: bigint; prefixLength: number } {
  const [address = '', prefix] = block.split('/');
  return { width: isIPv4(address) ? 32 : 128, network: numberOf(address), prefixLength: Number(prefix) };
}

/** An independent reading of addresses: numbers, where the rule works on bytes. */
function numberOf(address: string): bigint {
  const dotted = /(?:\d+\.){3}\d+$/.exec(address)?.[0];
  const low = dotted?.split('.').reduce((sum, part) => sum * 256n + BigInt(part), 0n) ?? 0n;
  if (isIPv4(address)) return low;
  const hex =
    dotted === undefined
      ? address
      : address.replace(dotted, `${(low >> 16n).toString(16)}:${(low & 0xffffn).toString(16)}`);
  const sides = hex.split('::').map((side) => side.split(':').filter((group) => group !== ''));
  const [left = [], right = []] = sides;
  const zeros = Array.from({ length: 8 - left.length - right.length }, () => '0');
  return [...left, ...zeros, ...right].reduce((sum, group) => sum * 65_536n + BigInt(`0x${group}`), 0n);
}

function format(value: bigint, width: number): string {
  const size = width === 32 ? 8n : 16n;
  const groups = Array.from(
    { length: width === 32 ? 4 : 8 },
    (_, index) => (value >> (size * BigInt(index))) & ((1n << size) - 1n),
  );
  const texts = groups.reverse().map((group) => group.toString(width === 32 ? 10 : 16));
  return texts.join(width === 32 ? '.' : ':');
}
