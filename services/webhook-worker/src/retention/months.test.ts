import { uuidAtTime } from '@enterprise-api/shared/ledger';
import { uuidTimeMs } from '@enterprise-api/shared/runtime';
import { describe, expect, it } from '@jest/globals';
import { expiredMonths, type Month, monthOfName, monthsOf, type Partition, startOfHistory } from './months.ts';

const hour = 3_600_000;
const at = (text: string) => Date.parse(`${text}Z`);

function monthOf(year: number, month: number): Month {
  const [from, until] = [Date.UTC(year, month - 1, 1), Date.UTC(year, month, 1)];
  const name = `events_${year}_${String(month).padStart(2, '0')}`;
  return { from, until, partitions: [{ table: 'events', name, from, until, isDetaching: false, bytes: 0 }] };
}

const months = [7, 8, 9, 10, 11, 12].map((month) => monthOf(2026, month));
const named = (found: Month[]) => found.map((month) => new Date(month.from).getUTCMonth() + 1);
const periods = { RETENTION_BODIES: 720 * hour, RETENTION_HISTORY: 2_160 * hour };

describe('the months that are past their time', () => {
  it('are those whose youngest row is as old as the setting, to the millisecond', () => {
    const of = (now: number) => {
      const { history, bodies } = expiredMonths(months, periods, now, 0);
      return [named(history), named(bodies)];
    };
    // 90 days after the end of July, and 30 days after the end of September.
    expect(of(at('2026-10-29T23:59:59.999'))).toEqual([[], [7, 8]]);
    expect(of(at('2026-10-30T00:00:00'))).toEqual([[7], [7, 8]]);
    expect(of(at('2026-10-31T00:00:00'))).toEqual([[7], [7, 8, 9]]);
  });

  it('lose their bodies once', () => {
    const { bodies } = expiredMonths(months, periods, at('2026-11-22T00:00:00'), at('2026-09-01T00:00:00'));
    expect(named(bodies)).toEqual([9]);
  });

  it('are none for ever, and never a month that ended less than a day ago', () => {
    const forEver = { RETENTION_BODIES: Number.POSITIVE_INFINITY, RETENTION_HISTORY: Number.POSITIVE_INFINITY };
    expect(expiredMonths(months, forEver, at('2126-01-01T00:00:00'), 0)).toEqual({ history: [], bodies: [] });
    const soon = { RETENTION_BODIES: 1, RETENTION_HISTORY: 1 };
    expect(named(expiredMonths(months, soon, at('2026-11-01T23:59:59'), 0).history)).toEqual([7, 8, 9]);
    expect(named(expiredMonths(months, soon, at('2026-11-02T00:00:00'), 0).history)).toEqual([7, 8, 9, 10]);
  });

  it('leave the keys of the first month that is kept', () => {
    expect(startOfHistory(periods, at('2026-10-29T23:59:59'))).toBe(at('2026-07-01T00:00:00'));
    expect(startOfHistory(periods, at('2026-10-30T00:00:00'))).toBe(at('2026-08-01T00:00:00'));
    expect(startOfHistory({ RETENTION_HISTORY: Number.POSITIVE_INFINITY }, at('2026-10-30T00:00:00'))).toBe(0);
  });

  it('are found by the names of their partitions', () => {
    const october = { from: at('2026-10-01T00:00:00'), until: at('2026-11-01T00:00:00') };
    expect(monthOfName('attempts_2026_10')).toEqual({ table: 'attempts', ...october });
    for (const other of ['events_2026_10_replaced', 'events_2026_13', 'webhooks_2026_10', 'events']) {
      expect([other, monthOfName(other)]).toEqual([other, null]);
    }
  });

  it('have the partitions of every table together, the oldest month first', () => {
    const of = (table: Partition['table'], from: number) =>
      ({ ...(months[0] as Month).partitions[0], table, from }) as Partition;
    const found = monthsOf([of('events', 2), of('events', 1), of('attempts', 2)]);
    expect(found.map(({ from, partitions }) => [from, partitions.length])).toEqual([
      [1, 1],
      [2, 2],
    ]);
  });

  it('end where an id with the time of the next one begins', () => {
    expect(uuidTimeMs(uuidAtTime(at('2026-11-01T00:00:00')))).toBe(at('2026-11-01T00:00:00'));
  });
});
