import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { excerptOf, maxExcerptBytes } from './excerpt.ts';

const of = (...chunks: (string | Buffer)[]) =>
  excerptOf(
    chunks.map((chunk) => Buffer.from(chunk)),
    undefined,
  );

describe('the excerpt of a body', () => {
  it('is its text', () => {
    expect(of('thanks')).toBe('thanks');
    expect(of('th', 'an', 'ks')).toBe('thanks');
    expect(of('\ufeffü€😀\r\n')).toBe('\ufeffü€😀\r\n');
  });

  it('is null for no body', () => {
    expect(of()).toBeNull();
    expect(of('')).toBeNull();
  });

  it('is null for a compressed body', () => {
    for (const encoding of ['gzip', 'br', 'deflate', 'zstd', 'x-unknown', 'gzip, identity']) {
      expect(excerptOf([Buffer.from('abc')], encoding)).toBeNull();
    }
    expect(excerptOf([Buffer.from('abc')], 'Identity')).toBe('abc');
  });

  it('ends before a character that the limit would cut', () => {
    for (const character of ['é', '€', '😀']) {
      for (let before = maxExcerptBytes - 4; before <= maxExcerptBytes; before += 1) {
        const excerpt = of('x'.repeat(before) + character.repeat(3)) ?? '';
        expect(excerpt).toMatch(/^x+[é€😀]*$/u);
        expect(Buffer.byteLength(excerpt)).toBeGreaterThan(maxExcerptBytes - 4);
      }
    }
  });

  it('can always be stored, in at most 4 KiB', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 3_000 })), (chunks) => {
        const excerpt =
          excerptOf(
            chunks.map((chunk) => Buffer.from(chunk)),
            undefined,
          ) ?? '';
        expect(excerpt.isWellFormed()).toBe(true);
        expect(excerpt).not.toContain('\0');
        expect(Buffer.byteLength(excerpt)).toBeLessThanOrEqual(maxExcerptBytes);
      }),
    );
    expect(Buffer.byteLength(of(Buffer.alloc(10_000, 0xff)) ?? '')).toBe(4_095);
    expect(Buffer.byteLength(of(Buffer.alloc(10_000)) ?? '')).toBe(4_095);
  });
});
