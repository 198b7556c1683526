import { describe, expect, it } from '@jest/globals';
import { authorizationOf, bearerToken } from './bearer.ts';

function tokenOf(...headers: [name: string, value: string][]): string | null {
  const [first] = headers.filter(([name]) => name.toLowerCase() === 'authorization');
  const request = { headers: first === undefined ? {} : { authorization: first[1] }, rawHeaders: headers.flat() };
  return bearerToken(authorizationOf(request));
}

describe('the bearer token', () => {
  it('follows the scheme, which may be in any case', () => {
    expect(tokenOf(['Authorization', 'Bearer abc'])).toBe('abc');
    expect(tokenOf(['authorization', 'bearer  abc'])).toBe('abc');
  });

  it.each(['abc', 'Basic abc', 'Bearer', 'Bearer ', 'Bearer a b', 'Bearer a,b c', 'Bearer é'])(
    'is not in "%s"',
    (value) => expect(tokenOf(['Authorization', value])).toBeNull(),
  );

  it('is refused when there are two headers, in any place', () => {
    expect(tokenOf(['Authorization', 'Bearer abc'], ['X', 'y'], ['AUTHORIZATION', 'Bearer abc'])).toBeNull();
  });

  it('is null without a header', () => expect(tokenOf(['Host', 'x'])).toBeNull());
});
