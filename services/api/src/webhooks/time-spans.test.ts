import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { countUnits, spansOf } from './time-spans.ts';

const lengths = { minute: 60_000, hour: 3_600_000, day: 86_400_000 };
const minutes = fc.integer({ min: 0, max: 200_000 });

it('cover a period of whole minutes once, by whole minutes, hours and days', () => {
  fc.assert(
    fc.property(minutes, minutes, (start, length) => {
      const [since, until] = [start * 60_000, (start + length + 1) * 60_000];
      const spans = spansOf(since, until);
      const borders = spans.map((span) => span.since.getTime());
      expect([...borders, until]).toEqual([since, ...spans.map((span) => span.until.getTime())]);
      for (const span of spans) {
        expect(span.since.getTime() % lengths[span.level]).toBe(0);
        expect(span.until.getTime() % lengths[span.level]).toBe(0);
      }
      expect(spans.length).toBeLessThanOrEqual(5);
    }),
  );
});

it('are no coarser than asked, because a bucket must not contain others', () => {
  const twoDays = 2 * lengths.day;
  expect(spansOf(0, twoDays).map(({ level }) => level)).toEqual(['day']);
  expect(spansOf(0, twoDays, 'hour').map(({ level }) => level)).toEqual(['hour']);
  expect(spansOf(0, twoDays, 'minute').map(({ level }) => level)).toEqual(['minute']);
});

it('counts the units that a period touches', () => {
  expect(countUnits('hour', 60_000, 3_600_000)).toBe(1);
  expect(countUnits('hour', 60_000, 3_660_000)).toBe(2);
  expect(countUnits('day', 0, 86_400_000)).toBe(1);
});
