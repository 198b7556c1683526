import { describe, expect, it } from '@jest/globals';
import { manyLines, oneLine, pad, shorten, width } from './text.ts';

describe('text from elsewhere on a terminal', () => {
  it('cannot steer the terminal: escape sequences, line breaks and reordering marks are shown as escapes', () => {
    expect(oneLine('a\x1b[2Jb')).toBe('a\\u001b[2Jb');
    expect(oneLine('one\r\ntwo\tthree')).toBe('one\\r\\ntwo\\tthree');
    expect(oneLine('pay\u202Egnp.exe\u2069')).toBe('pay\\u202egnp.exe\\u2069');
    expect(oneLine('\x9b31m\x07')).toBe('\\u009b31m\\u0007');
    expect(oneLine('lone \ud800')).toBe('lone \\ud800');
  });

  it('keeps line breaks and tabs where text has several lines', () => {
    expect(manyLines('{\r\n\t"a": "\x1b"\n}\r')).toBe('{\n\t"a": "\\u001b"\n}\\r');
  });

  it('leaves letters of all languages and emoji as they are', () => {
    const text = 'grüße 古池 🎉 עברית';
    expect(oneLine(text)).toBe(text);
  });
});

describe('columns of text', () => {
  it('counts wide characters as two and combined ones as one', () => {
    expect(width('古池')).toBe(4);
    expect(width('e\u0301')).toBe(1);
    expect(pad('古', 4)).toBe('古  ');
    expect(pad('7', 3, 'right')).toBe('  7');
  });

  it('shortens to the columns that there are, and never cuts a character in two', () => {
    expect(shorten('https://example.com', 10)).toBe('https://e…');
    expect(shorten('古池や蛙', 6)).toBe('古池…');
    expect(shorten('👩‍👩‍👧 family', 4)).toBe('👩‍👩‍👧 …');
    expect(shorten('short', 5)).toBe('short');
  });
});
