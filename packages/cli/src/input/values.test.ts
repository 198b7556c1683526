import { describe, expect, it } from '@jest/globals';
import { durationMs, instant, listOf, wholeNumber } from './values.ts';

describe('values of options', () => {
  it('are comma lists that may be given several times', () => {
    expect(listOf('a, b', listOf('c'))).toEqual(['c', 'a', 'b']);
    expect(() => listOf('a,,b')).toThrow('empty entry');
  });

  it.each([
    ['90s', 90_000],
    ['0s', 0],
    ['250ms', 250],
    ['7d', 604_800_000],
  ])('are durations: %s', (text, expected) => {
    expect(durationMs(text)).toBe(expected);
  });

  it.each(['5', 's', '-1s', '1.5h', '1w', '1h30m'])('are not durations: %s', (text) => {
    expect(() => durationMs(text)).toThrow('It must be a number and');
  });

  const now = () => Date.parse('2026-11-22T08:00:00.000Z');
  it.each([
    ['2h', '2026-11-22T06:00:00.000Z'],
    ['2026-11-22', '2026-11-22T00:00:00.000Z'],
    ['2026-11-22T09:00:00+01:00', '2026-11-22T08:00:00.000Z'],
    ['2026-11-22T08:00:00.5Z', '2026-11-22T08:00:00.500Z'],
  ])('are times: %s', (text, expected) => {
    expect(instant(now)(text)).toBe(expected);
  });

  it.each(['yesterday', '2026-11-22T08:00:00', '2026-13-01', '1', ''])('are not times: %s', (text) => {
    expect(() => instant(now)(text)).toThrow('It must be a time');
  });

  it('are whole numbers within limits', () => {
    expect(wholeNumber(1, 100)('100')).toBe(100);
    for (const text of ['0', '101', '1e2', '-1', '', '5.0'])
      expect(() => wholeNumber(1, 100)(text)).toThrow('from 1 to 100');
  });
});
