import { BlockList, isIPv4 } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createAddressPolicy } from './address-rules.ts';

const { permits: isPublicAddress } = createAddressPolicy({ allowedPrivateCidrs: [] });

const publicAddresses = [
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.0',
  '169.253.255.255',
  '172.15.255.255',
  '172.32.0.0',
  '192.0.1.0',
  '192.167.255.255',
  '198.17.255.255',
  '198.20.0.0',
  '223.255.255.255',
  '168.63.129.15',
  '2000::1',
  '2001:200::1',
  '2001:4860:4860::8888',
  '2606:4700:4700::1111',
  '2003::1',
  '3ffe:ffff::1',
  '3fff:1000::1',
];

const forbiddenAddresses = [
  '0.0.0.0',
  '0.0.0.1',
  '10.0.0.1',
  '100.64.0.1',
  '100.127.255.255',
  '127.0.0.1',
  '127.255.255.255',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.1',
  '192.0.2.1',
  '192.88.99.1',
  '192.168.1.1',
  '198.18.0.1',
  '198.19.255.255',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '168.63.129.16',
  '::',
  '::1',
  '::7f00:1',
  '::ffff:8.8.8.8',
  '::ffff:127.0.0.1',
  '::ffff:0:8.8.8.8',
  '64:ff9b::8.8.8.8',
  '64:ff9b:1::1',
  '100::1',
  '2001::1',
  '2001:1ff:ffff::1',
  '2001:db8::1',
  '2002:7f00:1::',
  '3fff::1',
  '3fff:fff::1',
  '4000::1',
  '5f00::1',
  'fc00::1',
  'fd00:ec2::254',
  'fe80::1',
  'fec0::1',
  'ff02::1',
];

const noAddresses = [
  '',
  'localhost',
  '8.8.8',
  '010.8.8.8',
  '0x8.8.8.8',
  '134744072',
  '8.8.8.8.',
  '8.8.8.8:443',
  ' 8.8.8.8',
  '[2606:4700:4700::1111]',
  '2606:4700:4700::1111%eth0',
  '2606:4700:4700::1111/64',
];

describe('the public internet', () => {
  it.each(publicAddresses)('contains %s', (address) => expect(isPublicAddress(address)).toBe(true));
  it.each(forbiddenAddresses)('does not contain %s', (address) => expect(isPublicAddress(address)).toBe(false));
  it.each(noAddresses)('does not contain the text "%s"', (text) => expect(isPublicAddress(text)).toBe(false));

  it('judges every spelling of an address alike', () => {
    expect(isPublicAddress('2606:4700:4700:0:0:0:0:1111')).toBe(true);
    expect(isPublicAddress('2606:4700:4700::1.1.1.1')).toBe(true);
    expect(isPublicAddress('FD00::1')).toBe(false);
    expect(isPublicAddress('0:0:0:0:0:0:0:1')).toBe(false);
  });

  it('agrees with an independent matcher on random addresses', () => {
    const forbidden = new BlockList();
    const forbidden4 =
      '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 ' +
      '192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4 168.63.129.16/32';
    for (const cidr of forbidden4.split(' ')) addSubnet(forbidden, cidr, 'ipv4');
    for (const cidr of ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']) addSubnet(forbidden, cidr, 'ipv6');
    const globalUnicast = new BlockList();
    addSubnet(globalUnicast, '2000::/3', 'ipv6');

    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (address) => {
        const expected = isIPv4(address)
          ? !forbidden.check(address, 'ipv4')
          : globalUnicast.check(address, 'ipv6') && !forbidden.check(address, 'ipv6');
        expect(isPublicAddress(address)).toBe(expected);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('an address policy', () => {
  it('permits nothing private by default', () => {
    const policy = createAddressPolicy({ allowedPrivateCidrs: [] });
    expect(policy.allowsPrivate).toBe(false);
    expect(policy.permits('127.0.0.1')).toBe(false);
    expect(policy.permits('8.8.8.8')).toBe(true);
  });

  it('permits the listed private ranges and public addresses', () => {
    const policy = createAddressPolicy({ allowedPrivateCidrs: ['127.0.0.0/8', '::1', 'fd00::/8'] });
    expect(policy.allowsPrivate).toBe(true);
    for (const address of ['127.9.9.9', '::1', 'fd12::1', '8.8.8.8']) expect(policy.permits(address)).toBe(true);
    for (const address of ['10.0.0.1', '::2', 'fe80::1', 'localhost']) expect(policy.permits(address)).toBe(false);
  });

  it('never permits an IPv4-mapped address', () => {
    const policy = createAddressPolicy({ allowedPrivateCidrs: ['127.0.0.0/8'] });
    expect(policy.permits('::ffff:127.0.0.1')).toBe(false);
    expect(policy.permits('::ffff:8.8.8.8')).toBe(false);
  });

  it('throws on text that is no range', () => {
    expect(() => createAddressPolicy({ allowedPrivateCidrs: ['10/8'] })).toThrow('10/8');
  });
});

function addSubnet(list: BlockList, cidr: string, family: 'ipv4' | 'ipv6'): void {
  const [network = '', prefix] = cidr.split('/');
  list.addSubnet(network, Number(prefix), family);
}
