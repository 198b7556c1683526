import { describe, expect, it } from '@jest/globals';
import { createAddressPolicy } from './address-rules.ts';
import { checkNewUrl, checkOutboundUrl } from './outbound-url.ts';

const publicOnly = createAddressPolicy({ allowedPrivateCidrs: [] });
const withLoopback = createAddressPolicy({ allowedPrivateCidrs: ['127.0.0.0/8', '::1/128'] });

const accepted = [
  'https://example.com',
  'https://example.com/',
  'https://example.com/Hooks?A=b',
  'https://example.com:443/x',
  'https://example.com:1024',
  'https://example.com:8443/a%20b',
  'https://example.com:65535/',
  'https://hooks.example.co.uk/a/b;c=d?e=f&g=@h',
  'https://example.com/ü?x=ö',
  'https://1.1.1.1.example.com',
  'https://a-b.c--d.example.com',
  'https://r3---sn-abc.example.com',
  'https://xn--bcher-kva.example',
  'https://bücher.example',
  'https://日本語.jp/',
  'https://пример.рф',
  'https://xn--e1afmkfd.xn--p1ai',
  'https://8.8.8.8',
  'https://8.8.8.8:8443/x',
  'https://[2606:4700:4700::1111]',
  'https://[2606:4700:4700::1111]:8443/x',
  `https://${'a'.repeat(63)}.com`,
  `https://example.com/${'a'.repeat(2_028)}`,
];

const refusedText = [
  '',
  'https://',
  'example.com',
  'http://example.com',
  'ftp://example.com',
  'javascript:alert(1)',
  'file:///etc/passwd',
  'https:example.com',
  'https:/example.com',
  'https:///example.com',
  'https://?x',
  'https://#x',
  ' https://example.com',
  'https://example.com ',
  'https://exa mple.com',
  'https://example.com/a b',
  'https://example.com\n',
  'https://exa\tmple.com',
  'https://example.com/\0',
  'https://example.com/\r\nHost: internal',
  'https://example.com\\@internal',
  'https://example.com/\u200b',
  'https://exam\u00adple.com',
  'https://example.com/\u202e',
  'https://example.com/\ufeff',
  'https://example.com/\u2066x',
  'https://example.com/\u3164',
  'https://example.com/\ud800',
  'https://example.com/\u{e0041}',
  `https://example.com/${'a'.repeat(2_029)}`,
];

const refusedAuthority = [
  'https://user@example.com',
  'https://user:password@example.com',
  'https://@example.com',
  'https://example.com:443@evil.com',
  'https://example%2ecom',
  'https://%65xample.com',
  'https://example.com%00.evil.com',
  'https://example.com:',
  'https://example.com:0',
  'https://example.com:0443',
  'https://example.com:22',
  'https://example.com:80',
  'https://example.com:1023',
  'https://example.com:65536',
  'https://example.com:99999',
  'https://example.com:-1',
  'https://example.com:4 43',
  'https://example.com:443:443',
];

const refusedPorts = [
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
  2375, 2379, 3306, 5432, 5672, 6379, 8500, 9200, 10250, 11211, 27017,
].map((port) => `https://example.com:${port}/`);

const refusedNames = [
  'https://{{host}}.com',
  'https://a..b.com',
  'https://.a.com',
  'https://a.com.',
  'https://a.com..',
  'https://a_b.com',
  'https://-a.com',
  'https://a-.com',
  'https://*.example.com',
  'https://a,b.com',
  "https://a'b.com",
  `https://${'a'.repeat(64)}.com`,
  `https://${'a.'.repeat(126)}com`,
  'https://xn--',
  'https://xn--.com',
  'https://xn--a.com',
  'https://xn--abc-.com',
  'https://ｅxample.com',
  'https://ⓔxample.com',
  'https://\u212aelvin.com',
  'https://example。com',
  'https://ﬁ.com',
  'https://example',
  'https://metadata',
  'https://foo.123',
  'https://localhost',
  'https://LOCALHOST',
  'https://localhost.',
  'https://ｌｏｃａｌｈｏｓｔ',
];

const refusedTopLabels =
  'localhost local localdomain internal intranet private corp home lan arpa test invalid onion alt consul svc'
    .split(' ')
    .map((label) => `https://a.b.${label}`);

const refusedLiterals = [
  '127.0.0.1',
  '127.1',
  '127.0.1',
  '2130706433',
  '0x7f000001',
  '0x7f.0.0.1',
  '0177.0.0.1',
  '017700000001',
  '0',
  '0.0.0.0',
  '10.0.0.1',
  '169.254.169.254',
  '168.63.129.16',
  '192.168.0.1',
  '100.64.0.1',
  '255.255.255.255',
  '8.8.8.8.',
  '8.8.2056',
  '010.8.8.8',
  '08.8.8.8',
  '0x8.8.8.8',
  '134744072',
  '256.1.1.1',
  '1.2.3.4.5',
  '１２７.0.0.1',
  '8。8。8。8',
  '⑧.8.8.8',
  '[::]',
  '[::1]',
  '[::7f00:1]',
  '[::127.0.0.1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::ffff:8.8.8.8]',
  '[::ffff:808:808]',
  '[64:ff9b::808:808]',
  '[64:ff9b:1::1]',
  '[2001:db8::1]',
  '[2002:7f00:1::]',
  '[3fff::1]',
  '[fc00::1]',
  '[fd00:ec2::254]',
  '[fe80::1]',
  '[fe80::1%25eth0]',
  '[fe80::1%eth0]',
  '[ff02::1]',
  '[2606:4700:4700:0:0:0:0:1111]',
  '[2606:4700:4700::ABCD]',
  '[2606:4700:4700::1.1.1.1]',
  '[v1.1]',
  '[2606:4700:4700::1111',
  '2606:4700:4700::1111',
  '[]',
].map((host) => `https://${host}/`);

const refused = [
  ...refusedText,
  ...refusedAuthority,
  ...refusedPorts,
  ...refusedNames,
  ...refusedTopLabels,
  ...refusedLiterals,
];

/** As sent, and as stored. */
const lowered = [
  ['HTTPS://example.com', 'https://example.com'],
  ['hTTpS://Example.COM:8443/Hooks?Q=A', 'https://example.com:8443/Hooks?Q=A'],
  ['HTTPS://EXAMPLE.com?Q', 'https://example.com?Q'],
  ['https://BÜCHER.example', 'https://bücher.example'],
] as const;

const withFragments = ['https://example.com/#', 'https://example.com#x', 'https://example.com/a?b=c#d'];

describe('a new URL for deliveries', () => {
  it.each(accepted)('%s is accepted and kept as sent', (url) => {
    expect(checkNewUrl(url, publicOnly)).toEqual({ ok: true, url });
  });

  it.each(lowered)('%s is accepted with scheme and host in lower case', (sent, stored) => {
    expect(checkNewUrl(sent, publicOnly)).toEqual({ ok: true, url: stored });
  });

  it.each([...refused, ...withFragments])('%j is refused', (url) => {
    const check = checkNewUrl(url, publicOnly);
    expect(check.ok).toBe(false);
    expect('reason' in check && check.reason).toMatch(/^[A-Z][^\0]{10,120}\.$/);
  });

  it('may be a local one when private ranges are allowed', () => {
    for (const url of [
      'https://localhost:8443/x',
      'https://receiver:8443',
      'https://receiver.svc',
      'https://127.0.0.1:8443',
      'https://[::1]:8443',
    ]) {
      expect(checkNewUrl(url, withLoopback)).toEqual({ ok: true, url });
    }
  });

  it('keeps every other rule when private ranges are allowed', () => {
    for (const url of [
      'http://localhost:8443',
      'https://127.1:8443',
      'https://[::ffff:7f00:1]:8443',
      'https://10.0.0.1:8443',
      'https://localhost:6379',
      'https://localhost:80',
      'https://a_b:8443',
      'https://localhost.:8443',
    ]) {
      expect(checkNewUrl(url, withLoopback).ok).toBe(false);
    }
  });
});

describe('a stored URL', () => {
  it.each([...accepted, ...withFragments])(
    '%s is allowed, also with a fragment from before these were refused',
    (url) => {
      expect(checkOutboundUrl(url, publicOnly)).toEqual({ ok: true, url });
    },
  );

  it.each(refused)('%j is refused', (url) => {
    expect(checkOutboundUrl(url, publicOnly).ok).toBe(false);
  });
});
