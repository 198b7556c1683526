import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { excerptOf, isCompressedEncoding, maxExcerptBytes } from './exchange.ts';

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

  it.each(['gzip', 'br', 'deflate', 'zstd', 'x-unknown', 'gzip, identity'])('does not exist of %s', (encoding) => {
    expect(isCompressedEncoding(encoding)).toBe(true);
  });

  it.each([undefined, 'identity', ' Identity '])('exists of a body that is not compressed (%s)', (encoding) => {
    expect(isCompressedEncoding(encoding)).toBe(false);
  });

  it.each<[string, Buffer, string]>([
    ['text/plain; charset=iso-8859-1', Buffer.from('Gr\xfc\xdfe', 'latin1'), 'Gr\u00fc\u00dfe'],
    ['text/html;charset="ISO-8859-1"', Buffer.from('\xe9', 'latin1'), '\u00e9'],
    ['text/plain; Charset=windows-1252', Buffer.from([0x80]), '\u20ac'],
    ['text/plain; charset=shift_jis', Buffer.from([0x83, 0x65]), '\u30c6'],
    ['text/plain; charset=utf-16le', Buffer.from('ab', 'utf16le'), 'ab'],
    ['text/plain; charset=UTF-8', Buffer.from('\u00fc'), '\u00fc'],
    ['text/plain; charset=no-such-thing', Buffer.from('\u00fc'), '\u00fc'],
    ['text/plain', Buffer.from('\u00fc'), '\u00fc'],
  ])('is read by the charset of %s', (contentType, body, text) => {
    expect(excerptOf([body], contentType)).toBe(text);
  });

  it('in any charset ends before a character that the limit would cut, and is at most 4 KiB as stored', () => {
    const japanese = Buffer.concat([Buffer.from('x'), Buffer.from([0x83, 0x65])]);
    const body = Buffer.concat([Buffer.from('x'), ...Array.from({ length: 3_000 }, () => japanese.subarray(1))]);
    expect(excerptOf([body], 'text/plain; charset=shift_jis')).toMatch(/^x\u30c6+$/);
    const utf16 = Buffer.from(`a${'😀'.repeat(1_100)}`, 'utf16le');
    expect(excerptOf([utf16], 'text/plain; charset=utf-16le')).toBe(`a${'😀'.repeat(1_023)}`);
    const latin = excerptOf([Buffer.alloc(5_000, 0xe9)], 'text/plain; charset=iso-8859-1') ?? '';
    expect(latin).toMatch(/^\u00e9+$/);
    expect(Buffer.byteLength(latin)).toBe(maxExcerptBytes);
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
