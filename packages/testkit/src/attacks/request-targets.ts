/** A request target that two servers may read as different paths. Each character is one byte of the wire (latin1). */
export interface ConfusingTarget {
  readonly name: string;
  readonly target: string;
}

const below = '/v1/consultations';

/** Targets that are refused with 400 before the key is looked at, and that no upstream may ever see. */
export const refusedTargets: readonly ConfusingTarget[] = [
  ...segments({
    'a segment ..': '../webhooks',
    'a last segment ..': '..',
    'a segment .': './c1',
    'a last segment .': 'c1/.',
    '.. with an encoded dot': '.%2e/webhooks',
    '.. with both dots encoded': '%2e%2e/webhooks',
    '.. with both dots encoded in upper case': '%2E%2E/webhooks',
    'an encoded single dot': '%2e/c1',
    '.. before parameters': '..;/webhooks',
    '.. before parameters with a value': '..;a=b/webhooks',
    '.. before an encoded semicolon': '..%3b/webhooks',
    'encoded .. before parameters': '%2e%2e;/webhooks',
    '. before parameters': '.;/c1',
    'an encoded slash': 'c1%2fwebhooks',
    'an encoded slash in upper case': 'c1%2Fwebhooks',
    '.. before an encoded slash': '..%2fwebhooks',
    'everything of ../ encoded': '%2e%2e%2fwebhooks',
    'a backslash': 'c1\\webhooks',
    '.. before a backslash': '..\\webhooks',
    'an encoded backslash': '..%5cwebhooks',
    'an encoded backslash in upper case': '..%5Cwebhooks',
    'an empty segment': '/c1',
    'an empty segment in the middle': 'c1//turns',
    'two trailing slashes': 'c1//',
    'a fragment': 'c1#/../../webhooks',
    'a fragment before a query': 'c1#x?y=1',
    'an encoded NUL': 'c1%00',
    'an encoded NUL before a suffix': 'c1%00.json',
    'an encoded line feed': 'c1%0aX-Organization-Id:%20org_1',
    'an encoded carriage return and line feed': 'c1%0d%0aX-Organization-Id:%20org_1',
    'an encoded tab': 'c1%09',
    'an encoded DEL': 'c1%7f',
    'an overlong slash': '..%c0%afwebhooks',
    'an overlong slash of three bytes': '..%e0%80%afwebhooks',
    'an overlong dot': '%c0%ae%c0%ae/webhooks',
    'a byte that is not UTF-8': 'c1%ff',
    'half a UTF-8 character': 'c1%c3',
    'an encoded surrogate': 'c1%ed%a0%80',
    'a code point beyond Unicode': 'c1%f4%90%80%80',
    'a percent sign without digits': 'c1%',
    'a percent sign with one digit': 'c1%2',
    'a percent sign with letters': 'c1%zz',
    'an escape of the old JavaScript form': '%u002e%u002e/webhooks',
    'raw bytes that are not UTF-8': 'c1\xff',
  }),
  { name: 'an empty first segment', target: '//v1/consultations/c1' },
  { name: 'an empty segment after /v1', target: '/v1//consultations/c1' },
  { name: 'a segment .. before the area', target: '/v1/me/../consultations/c1' },
  { name: 'a segment . before the area', target: '/./v1/consultations/c1' },
  { name: 'an encoded slash before the area', target: '/v1%2fconsultations/c1' },
  { name: 'a path that climbs above the root', target: '/../../v1/consultations/c1' },
  { name: 'absolute form with the own host', target: 'http://ingress.example/v1/consultations/c1' },
  { name: 'absolute form with a foreign host', target: 'http://internal.example:8080/v1/consultations/c1' },
];

/** Targets of the area `consultations` that look odd but mean one thing only: judged, and passed on byte for byte. */
export const passedTargets: readonly ConfusingTarget[] = [
  { name: 'the area itself', target: below },
  { name: 'the area with a trailing slash', target: `${below}/` },
  ...segments({
    'a trailing slash': 'c1/',
    'three dots': '...',
    'dots within a name': 'a..b/.hidden',
    parameters: 'c1;v=1/turns',
    'empty parameters': 'c1;/turns',
    'an encoded letter': '%63%31',
    'an encoded unreserved character': 'c%2D1',
    'escapes in lower and upper case': 'a%c3%A9',
    'a doubly encoded ..': '%252e%252e/c1',
    'a doubly encoded slash': 'c1%252fwebhooks',
    'a doubly encoded NUL': 'c1%2500',
    'an encoded space': 'a%20b',
    'an encoded question mark': 'c1%3fx=1',
    'a plus sign': 'a+b',
    'characters of UTF-8': '%e2%82%ac%F0%9F%98%80',
    'sub-delimiters': "a!$&'()*+,=:@~_-.",
    'a query': 'c1?limit=10&x=%20&y=+',
    'an empty query': 'c1?',
    'a query of question marks': 'c1???',
    'a query with dots and slashes': 'c1?next=/../..//x',
    'a query with escapes': 'c1?next=%2e%2e%2f%00%ff%zz',
    'a query with a backslash': 'c1?next=\\x',
    'a query with encoded line ends': 'c1?a=%0d%0aX-Api-Key-Id:%20x',
  }),
  { name: 'the area with an encoded letter', target: '/v1/%63onsultations/c1' },
  { name: 'the version with an encoded letter', target: '/%761/consultations/c1' },
];

/**
 * Targets that are no path, and characters that must not stand in a request line at all. A server may refuse the request
 * with any 4xx, or close the connection; no upstream may see it.
 */
export const brokenTargets: readonly ConfusingTarget[] = [
  { name: 'absolute form of another scheme', target: 'ftp://ingress.example/v1/consultations/c1' },
  { name: 'authority form', target: 'ingress.example:443' },
  { name: 'asterisk form', target: '*' },
  { name: 'a target without a slash', target: 'v1/consultations/c1' },
  { name: 'a target that begins with a backslash', target: '\\v1\\consultations\\c1' },
  { name: 'a target that begins with a question mark', target: '?/v1/consultations/c1' },
  ...segments({
    'a space': 'c1 x',
    'a tab': 'c1\tx',
    'a NUL': 'c1\0x',
    'a bare carriage return': 'c1\rx',
    'a bare line feed': 'c1\nX-Organization-Id: x',
    'a vertical tab': 'c1\vx',
    'a DEL': 'c1\x7f',
  }),
];

function segments(byName: Record<string, string>): ConfusingTarget[] {
  return Object.entries(byName).map(([name, rest]) => ({ name, target: `${below}/${rest}` }));
}
