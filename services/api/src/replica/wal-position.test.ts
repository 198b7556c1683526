import { describe, expect, it } from '@jest/globals';
import { endOfLastRecord, parseLsn } from './wal-position.ts';

describe('a place in the log', () => {
  it.each([
    ['0/0', 0n],
    ['0/1501260', 0x1501260n],
    ['16/B374D848', 0x16b374d848n],
    ['FFFFFFFF/FFFFFFFF', 0xffffffffffffffffn],
  ])('%s is read', (text, expected) => {
    expect(parseLsn(text)).toBe(expected);
  });

  it.each(['', '0', '0/', '/0', '0/g', '123456789/0', '0/1 '])('%j is refused', (text) => {
    expect(() => parseLsn(text)).toThrow(JSON.stringify(text));
  });

  it.each([
    ['in a page', '0/3000060', '0/3000060'],
    ['behind the header of a page', '0/3002018', '0/3002000'],
    ['behind the header of a segment', '0/4000028', '0/4000000'],
    ['at the beginning of a page', '0/4000000', '0/4000000'],
  ])('where the next record begins %s, the last one ended at the header at the latest', (_where, next, end) => {
    expect(endOfLastRecord(parseLsn(next))).toBe(parseLsn(end));
  });
});
