import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { canonicalAddress, canonicalCidr, cidrContains, parseCidr } from './cidr.ts';

describe('the canonical form of an address', () => {
  it.each([
    ['1.2.3.4', '1.2.3.4'],
    ['::ffff:1.2.3.4', '1.2.3.4'],
    ['::FFFF:102:304', '1.2.3.4'],
    ['0:0:0:0:0:ffff:1.2.3.4', '1.2.3.4'],
    ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['2001:0db8::0001', '2001:db8::1'],
    ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
    ['::1', '::1'],
    ['::', '::'],
  ])('%s is %s', (text, canonical) => expect(canonicalAddress(text)).toBe(canonical));

  it.each([
    '',
    'unknown',
    '1.2.3.4:99',
    '[::1]',
    'fe80::1%eth0',
    '1.2.3',
    '01.2.3.4',
    '1.2.3.4/32',
    '1.2.3.4 ',
    "' or 1=1",
  ])('"%s" is refused', (text) => expect(canonicalAddress(text)).toBeNull());

  it('is its own canonical form', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (text) => {
        const canonical = canonicalAddress(text);
        expect(canonical).not.toBeNull();
        expect(canonicalAddress(canonical ?? '')).toBe(canonical);
      }),
    );
  });
});

describe('the canonical form of an allowlist entry', () => {
  it.each([
    ['10.1.2.3', '10.1.2.3'],
    ['10.1.2.3/32', '10.1.2.3'],
    ['10.1.2.3/8', '10.0.0.0/8'],
    ['172.31.255.255/12', '172.16.0.0/12'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['::ffff:10.1.2.3', '10.1.2.3'],
    ['::ffff:10.1.2.3/104', '10.0.0.0/8'],
    ['::ffff:0:0/96', '0.0.0.0/0'],
    ['2001:DB8:FFFF::1/33', '2001:db8:8000::/33'],
    ['2001:db8::1/128', '2001:db8::1'],
    ['::/0', '::/0'],
  ])('%s is %s', (text, canonical) => expect(canonicalCidr(text)).toBe(canonical));

  it.each([
    '',
    '10/8',
    '10.0.0.0/33',
    '10.0.0.0/08',
    '10.0.0.0/-1',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '::/129',
    'fe80::1%eth0/64',
    'host/24',
    '010.0.0.1',
  ])('"%s" is refused', (text) => expect(canonicalCidr(text)).toBeNull());
});

describe('matching an allowlist entry', () => {
  it.each([
    ['10.0.0.0/8', '10.255.0.1', true],
    ['10.0.0.0/8', '::ffff:10.255.0.1', true],
    ['10.0.0.0/8', '11.0.0.1', false],
    ['::ffff:10.0.0.0/104', '10.1.1.1', true],
    ['192.168.0.128/25', '192.168.0.127', false],
    ['192.168.0.128/25', '192.168.0.128', true],
    ['2001:db8::/33', '2001:db8:7fff::1', true],
    ['2001:db8::/33', '2001:db8:8000::1', false],
    ['0.0.0.0/0', '2001:db8::1', false],
    ['::/0', '1.2.3.4', false],
    ['::/0', '::1', true],
    ['1.2.3.4', '1.2.3.4', true],
    ['1.2.3.4', '1.2.3.5', false],
    ['junk', '1.2.3.4', false],
    ['0.0.0.0/0', 'junk', false],
  ])('%s and %s: %s', (cidr, address, expected) => expect(cidrContains(cidr, address)).toBe(expected));

  it('holds for every address of a masked range', () => {
    fc.assert(
      fc.property(fc.ipV4(), fc.integer({ min: 0, max: 32 }), (address, prefix) => {
        expect(cidrContains(`${address}/${prefix}`, address)).toBe(true);
        expect(parseCidr(`${address}/${prefix}`)?.hostBits).toBe(32 - prefix);
      }),
    );
  });
});
