import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { generateKey, isWellFormedKey, keyPrefix } from './key-format.ts';

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'.split('');

describe('a key', () => {
  it('has only base62 characters and begins with its public prefix', () => {
    const { secret, publicId } = generateKey(randomBytes);
    expect(secret).toMatch(/^nwk_[0-9A-Za-z]{40,80}$/);
    expect(publicId).toHaveLength(8);
    expect(secret.startsWith(keyPrefix(publicId))).toBe(true);
  });

  it('is well formed for any random bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 64, maxLength: 64 }), (bytes) => {
        let at = 0;
        const source = (count: number) => {
          // Bytes that the generator throws away would never end the loop: count up beside them.
          const drawn = Uint8Array.from({ length: count }, (_, index) => (bytes[(at + index) % 64] ?? 0) + at);
          at += count;
          return drawn;
        };
        expect(isWellFormedKey(generateKey(source).secret)).toBe(true);
      }),
    );
  });

  it('is refused when any one character is changed', () => {
    const { secret } = generateKey(randomBytes);
    fc.assert(
      fc.property(fc.integer({ min: 4, max: secret.length - 1 }), fc.constantFrom(...base62), (at, character) => {
        fc.pre(secret[at] !== character);
        expect(isWellFormedKey(secret.slice(0, at) + character + secret.slice(at + 1))).toBe(false);
      }),
    );
  });

  it('is refused when two neighbouring characters are swapped', () => {
    const { secret } = generateKey(randomBytes);
    for (let at = 4; at < secret.length - 1; at++) {
      if (secret[at] === secret[at + 1]) continue;
      const swapped = secret.slice(0, at) + secret[at + 1] + secret[at] + secret.slice(at + 2);
      expect(isWellFormedKey(swapped)).toBe(false);
    }
  });

  it.each(['', 'nwk_', 'nwk_short', `nwk_${'é'.repeat(46)}`, ` ${generateKey(randomBytes).secret}`])(
    'is not "%s"',
    (text) => expect(isWellFormedKey(text)).toBe(false),
  );

  it('uses every character equally often', () => {
    const counts = new Map<string, number>();
    for (let made = 0; made < 2_000; made++) {
      for (const character of generateKey(randomBytes).secret.slice(4, -6)) {
        counts.set(character, (counts.get(character) ?? 0) + 1);
      }
    }
    const expected = (2_000 * 40) / 62;
    // Pearson's chi-squared with 61 degrees of freedom stays below 120 in all but one of a hundred thousand runs.
    const chiSquared = base62.reduce(
      (sum, character) => sum + ((counts.get(character) ?? 0) - expected) ** 2 / expected,
      0,
    );
    expect(chiSquared).toBeLessThan(120);
  });
});
