import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { readTarget } from './request-target.ts';

describe('a request target', () => {
  it.each([
    ['/v1/me', '/v1/me', ''],
    ['/', '/', ''],
    ['/v1/consultations/', '/v1/consultations/', ''],
    ['/v1/webhooks?limit=1&x=?/../', '/v1/webhooks', 'limit=1&x=?/../'],
    ['/v1/me?', '/v1/me', ''],
    ['/%76%31/%6De', '/v1/me', ''],
    ['/v1/caf%C3%A9', '/v1/café', ''],
    ['/v1/caf\xc3\xa9', '/v1/café', ''],
    ['/v1/a%20b%23%3F', '/v1/a b#?', ''],
    ['/v1/%252e%252e/%252F', '/v1/%2e%2e/%2F', ''],
    ['/v1/%EF%BB%BFx', '/v1/\ufeffx', ''],
    ['/v1/x;a=b/y;', '/v1/x;a=b/y;', ''],
    ['/v1/...', '/v1/...', ''],
    ['/v1/.search', '/v1/.search', ''],
    ['/v1/a.b/c..', '/v1/a.b/c..', ''],
    ['/v1/:@!$&\'()*+,=~-_|{}[]^`"<>', '/v1/:@!$&\'()*+,=~-_|{}[]^`"<>', ''],
    ['*', '*', ''],
  ])('%s is the path %s', (target, path, query) => {
    expect(readTarget(target)).toEqual({ path, query, refusal: null });
  });

  it.each([
    ['a dot segment', '/v1/./me', '/v1/../me', '/..', '/v1/..', '/v1/.', '/v1/me/..?x', '/v1/../'],
    ['an encoded dot segment', '/v1/%2e/me', '/v1/%2E%2e/me', '/v1/.%2e', '/v1/%2e%2e;x'],
    ['a dot segment before a semicolon', '/v1/..;/me', '/v1/.;a=b', '/v1/..;', '/v1/..%3Bx'],
    ['an empty segment', '//', '//v1/me', '/v1//me', '/v1/me//', '///'],
    ['a segment that is empty before a semicolon', '/v1/;x/me', '/v1/me/;', '/;', '/v1/%3B/x'],
    ['a backslash', '/v1\\me', '/v1/me\\', '/v1/..\\me', '/\\v1'],
    ['an encoded slash or backslash', '/v1%2Fme', '/v1%2fme', '/v1%5Cme', '/v1/%5c', '/v1/x%2F..%2Fy'],
    ['a fragment', '/v1/me#x', '/v1/me#', '/v1/me#?x', '/#'],
    ['a control character', '/v1/\tme', '/v1/me\x7f', '/v1/me\x00', '/v1/\xc2\x85'],
    ['an encoded control character', '/v1/%00', '/v1/me%0d%0a', '/v1/%7F', '/v1/%C2%85', '/v1/%1b'],
    ['bytes that are not UTF-8', '/v1/%ff', '/v1/%C3', '/v1/\xff', '/v1/%c0%ae%c0%ae', '/v1/%ed%a0%80', '/v1/%C3(x'],
    ['a character of raw and encoded bytes', '/v1/\xc2%a0', '/v1/%c2\xa0', '/v1/\xe2%82\xac'],
    ['a malformed percent-encoding', '/%', '/v1/%zz', '/v1/%2', '/v1/100%', '/v1/%u002e'],
    ['a space', '/v1/a b', ' /v1', '/v1/me '],
    ['no slash in front', '', '?', '?x', 'v1/me', 'http://x/v1/me', 'HTTPS://x', '*/', 'x:', '.'],
  ])('is refused with %s', (_why, ...targets) => {
    for (const target of targets) {
      const { refusal } = readTarget(target);
      expect([target, refusal?.problem]).toEqual([target, 'validation_failed']);
      expect(refusal?.details).toMatchObject([{ location: 'path', path: '' }]);
    }
  });

  it('of the absolute form keeps its path, which says how the refusal is shown', () => {
    expect(readTarget('http://x/scim/v2/Users?y').path).toBe('/scim/v2/Users');
  });

  const character = fc.oneof(
    fc.constantFrom(...'/.;\\#%?aA0 \t\x7f\xc3\xa9'.split(''), '%2e', '%2f', '%41', '%C3%A9', '%ff', '%00', '%25'),
    fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)),
  );

  it('that is accepted has a path that URL parsers and decoders read the same way', () => {
    fc.assert(
      fc.property(fc.string({ unit: character, maxLength: 20 }), (text) => {
        const target = `/${text}`;
        const { path, refusal } = readTarget(target);
        if (refusal !== null) return;
        const asText = Buffer.from(target, 'latin1').toString('utf8');
        const { pathname } = new URL(asText, 'http://x');
        expect(decodeURIComponent(pathname)).toBe(path);
        expect(decodeURIComponent(asText.split('?')[0] as string)).toBe(path);
      }),
      { numRuns: 2_000 },
    );
  });
});
