import { describe, expect, it } from '@jest/globals';
import { bearerToken } from './request-context.ts';

describe('the bearer token', () => {
  it('follows the scheme, which may be in any case', () => {
    expect(bearerToken(['Bearer abc'])).toBe('abc');
    expect(bearerToken(['bearer  abc'])).toBe('abc');
  });

  it.each(['abc', 'Basic abc', 'Bearer', 'Bearer ', 'Bearer a b', 'Bearer a,b c', 'Bearer é'])(
    'is not in "%s"',
    (value) => expect(bearerToken([value])).toBeNull(),
  );

  it('is refused when there are two headers, equal ones too', () => {
    expect(bearerToken(['Bearer abc', 'y'])).toBeNull();
    expect(bearerToken(['Bearer abc', 'Bearer abc'])).toBeNull();
  });

  it('is null without a header', () => expect(bearerToken(undefined)).toBeNull());
});
