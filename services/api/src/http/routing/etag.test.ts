import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isStale, isUnchanged, parseIfMatch, versionTag } from './etag.ts';

describe('If-Match', () => {
  it.each([
    ['*', '*'],
    [' * ', '*'],
    ['"3"', ['"3"']],
    ['"1", "2"', ['"1"', '"2"']],
    ['"1","2"\t,  "3"', ['"1"', '"2"', '"3"']],
    [', "1",, "2" ,', ['"1"', '"2"']],
    ['W/"3"', ['W/"3"']],
    ['"a,b", ""', ['"a,b"', '""']],
    ['"\u00e9"', ['"\u00e9"']],
  ])('%j is read', (header, expected) => {
    expect(parseIfMatch(header)).toEqual(expected);
  });

  it.each([
    '',
    ' ',
    ',',
    '3',
    '"3',
    '3"',
    '"1" "2"',
    '"1";"2"',
    '*, "1"',
    '"1", *',
    'w/"1"',
    'W/ "1"',
    "'1'",
    '"a b"',
    '"a"b"',
  ])('%j is refused', (header) => {
    expect(parseIfMatch(header)).toBeUndefined();
  });

  it('is parsed in linear time', () => {
    const header = fc.string({ unit: fc.constantFrom('"', ',', ' ', '\t', 'W/', '*', 'a'), maxLength: 200 });
    fc.assert(
      fc.property(header, (text) => {
        const parsed = parseIfMatch(text);
        expect(parsed === undefined || parsed === '*' || parsed.length > 0).toBe(true);
      }),
    );
    expect(parseIfMatch(`${'"a", '.repeat(3_000)}"`)).toBeUndefined();
  });

  it('matches the current version, alone or in a list, and `*`; without the header every version matches', () => {
    expect(isStale([versionTag(7)], 7)).toBe(false);
    expect(isStale(['"6"', '"7"'], 7)).toBe(false);
    expect(isStale('*', 7)).toBe(false);
    expect(isStale(null, 7)).toBe(false);
  });

  it('ignores fields that change without a new version; If-None-Match notices them', () => {
    const [healthy, failing] = [versionTag(7, [null, null]), versionTag(7, ['2026-11-21T07:00:00.000Z', null])];
    expect(healthy).toBe('"7"');
    expect([isStale([healthy], 7), isStale([failing], 7), isStale([versionTag(70)], 7)]).toEqual([false, false, true]);
    expect([isUnchanged(healthy, failing), isUnchanged(failing, healthy), isUnchanged(failing, failing)]).toEqual([
      false,
      false,
      true,
    ]);
  });

  it('fails for other versions, and for weak tags', () => {
    expect(isStale(['"6"'], 7)).toBe(true);
    expect(isStale(['W/"7"'], 7)).toBe(true);
    expect(isStale(['7'], 7)).toBe(true);
  });
});

describe('If-None-Match', () => {
  it.each([
    ['"7"', true],
    ['W/"7"', true],
    ['"6", "7"', true],
    ['*', true],
    ['"6"', false],
    ['7', false],
    ['', false],
    [undefined, false],
  ])('%j of version 7: %j', (header, expected) => {
    expect(isUnchanged(header, versionTag(7))).toBe(expected);
  });
});
