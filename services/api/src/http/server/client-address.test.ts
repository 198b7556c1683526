import { elapsedMs, lowest } from '@enterprise-api/testkit';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { addressBucket, clientAddress } from './client-address.ts';

const proxies = ['10.0.0.0/8', 'fd00::/8'];

describe('the address of the client', () => {
  it.each([
    ['the peer, when no proxy is trusted', '1.2.3.4', '9.9.9.9', [], '1.2.3.4'],
    ['the peer, when it is not a trusted proxy', '1.2.3.4', '9.9.9.9', proxies, '1.2.3.4'],
    ['what a trusted peer says', '10.0.0.1', '9.9.9.9', proxies, '9.9.9.9'],
    ['behind several trusted hops', '10.0.0.1', '9.9.9.9, 10.1.1.1,fd00::2', proxies, '9.9.9.9'],
    ['the first untrusted from the right, whatever is to its left', '10.0.0.1', '6.6.6.6, 9.9.9.9', proxies, '9.9.9.9'],
    ['the leftmost, when all are trusted', '10.0.0.1', '10.2.2.2, 10.1.1.1', proxies, '10.2.2.2'],
    ['the hop before junk', '10.0.0.1', '9.9.9.9, unknown', proxies, '10.0.0.1'],
    ['the hop before junk further left', '10.0.0.1', '1.2.3.4:99, 10.1.1.1', proxies, '10.1.1.1'],
    ['the hop before an empty entry', '10.0.0.1', '9.9.9.9,', proxies, '10.0.0.1'],
    ['the hop before SQL', '10.0.0.1', "'; drop table x; --", proxies, '10.0.0.1'],
    ['an IPv4 address, when mapped', '::ffff:1.2.3.4', undefined, [], '1.2.3.4'],
    ['an IPv4 address, when mapped in the header', '::ffff:10.0.0.1', '::ffff:9.9.9.9', proxies, '9.9.9.9'],
    ['canonical', '2001:DB8:0:0::1', undefined, [], '2001:db8::1'],
    ['without its interface', 'fe80::1%eth0', undefined, [], 'fe80::1'],
    ['unknown, when the socket is gone', undefined, undefined, [], 'unknown'],
  ])('is %s', (_, peer, header, trusted, expected) => {
    expect(clientAddress(peer, header, trusted)).toBe(expected);
  });

  it('is found in milliseconds among ten thousand entries; an entry that is not an address ends the search', async () => {
    const many = (entry: string) => Array.from({ length: 10_000 }, () => entry).join(',');
    const findThree = async () => {
      expect(clientAddress('10.0.0.1', many('10.1.1.1'), proxies)).toBe('10.1.1.1');
      expect(clientAddress('10.0.0.1', `${many('10.1.1.1')},x,${many('10.2.2.2')}`, proxies)).toBe('10.2.2.2');
      expect(clientAddress('10.0.0.1', many('9.9.9.9'), proxies)).toBe('9.9.9.9');
    };
    expect(await lowest(1_000, () => elapsedMs(findThree))).toBeLessThan(1_000);
  });

  it('ignores the header of an untrusted peer', () => {
    fc.assert(
      fc.property(fc.string(), (header) => {
        expect(clientAddress('1.2.3.4', header, proxies)).toBe('1.2.3.4');
      }),
    );
  });
});

describe('the bucket of an address', () => {
  it.each([
    ['1.2.3.4', '1.2.3.4'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::1', '2001:db8:1:2::/64'],
    ['::1', '::/64'],
    ['unknown', 'unknown'],
  ])('%s: %s', (address, bucket) => expect(addressBucket(address)).toBe(bucket));
});
