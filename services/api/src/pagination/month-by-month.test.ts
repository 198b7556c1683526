import { describe, expect, it } from '@jest/globals';
import { type IdRange, type RowsQuestion, readMonthByMonth } from './month-by-month.ts';

const at = (text: string) => Date.parse(`${text}Z`);
const newestFirst: RowsQuestion = { order: 'desc', limit: 2, since: null, until: at('2026-11-23T12:00') };
const oldestFirst: RowsQuestion = { ...newestFirst, order: 'asc', since: at('2025-03-10T12:00') };

/** Asks with answers that are given in turn; returns the ranges asked for, to the day. */
async function asked(question: RowsQuestion, answers: { times: string[]; lateUntil?: string }[]): Promise<string[]> {
  const ranges: IdRange[] = [];
  const rows = await readMonthByMonth(question, async (ids) => {
    const { times, lateUntil } = answers[ranges.length] ?? { times: [] };
    ranges.push(ids);
    return {
      rows: times.map((time) => ({ created_at: new Date(at(time)) })),
      lateUntil: lateUntil === undefined ? null : at(lateUntil),
    };
  });
  expect(rows.map(({ created_at }) => created_at.getTime())).toEqual(answers[ranges.length - 1]?.times.map(at));
  return ranges.map(({ from, until }) => `${from === null ? '' : day(from)}..${day(until)}`);
}

const day = (ms: number) => new Date(ms).toISOString().slice(0, 10);
const full = { times: ['2026-11-20T08:00', '2026-11-19T08:00'] };
const all = { times: ['2026-11-20T08:00'] };

describe('newest first, a page', () => {
  it('that is full comes from this month and the one before', async () => {
    expect(await asked(newestFirst, [full])).toEqual(['2026-10-01..2026-11-24']);
  });

  it('that is not full is read again, from all months', async () => {
    expect(await asked(newestFirst, [all, all])).toEqual(['2026-10-01..2026-11-24', '..2026-11-24']);
  });

  it('that is not full is read again from the month in which its period begins', async () => {
    const question = { ...newestFirst, since: at('2026-03-10T12:00') };
    expect(await asked(question, [all, all])).toEqual(['2026-10-01..2026-11-24', '2026-03-01..2026-11-24']);
  });

  it('of a period within the two months is read once', async () => {
    const question = { ...newestFirst, since: at('2026-11-10T12:00') };
    expect(await asked(question, [{ times: [] }])).toEqual(['2026-11-01..2026-11-24']);
  });

  it('whose period begins on the first day of a month looks at the month before, for ids that are older than their rows', async () => {
    const question = { ...newestFirst, since: at('2026-11-01T12:00') };
    expect(await asked(question, [all])).toEqual(['2026-10-01..2026-11-24']);
  });

  it('that ends on the first day of the earlier month is read again: rows of a third month may be as young', async () => {
    const page = { times: ['2026-10-20T08:00', '2026-10-01T08:00'] };
    expect(await asked(newestFirst, [page, page])).toHaveLength(2);
  });

  it('is read again while the organization has late rows of its time, and not for those that are older', async () => {
    expect(await asked(newestFirst, [{ ...full, lateUntil: '2026-11-20T00:00' }, full])).toEqual([
      '2026-10-01..2026-11-24',
      '..2026-11-24',
    ]);
    expect(await asked(newestFirst, [{ ...full, lateUntil: '2026-11-18T00:00' }])).toHaveLength(1);
  });

  it('of a period with late rows is read from all months', async () => {
    const question = { ...newestFirst, since: at('2026-11-10T12:00') };
    expect(await asked(question, [{ ...all, lateUntil: '2026-11-12T00:00' }, all])).toEqual([
      '2026-11-01..2026-11-24',
      '..2026-11-24',
    ]);
  });
});

describe('oldest first, a page', () => {
  const page = { times: ['2025-03-11T08:00', '2025-03-12T08:00'] };

  it('that is full comes from the month of its beginning and the next', async () => {
    expect(await asked(oldestFirst, [page])).toEqual(['2025-03-01..2025-05-01']);
  });

  it('that is not full is read again, from all later months', async () => {
    const short = { times: ['2025-03-11T08:00'] };
    expect(await asked(oldestFirst, [short, short])).toEqual(['2025-03-01..2025-05-01', '2025-03-01..2026-11-24']);
  });

  it('that ends on the last day of the second month is read again: rows of a third month may be as old', async () => {
    const long = { times: ['2025-03-11T08:00', '2025-04-30T08:00'] };
    expect(await asked(oldestFirst, [long, long])).toHaveLength(2);
  });

  it('without a beginning is read from all months', async () => {
    expect(await asked({ ...oldestFirst, since: null }, [page])).toEqual(['..2026-11-24']);
  });

  it('is read from all months when the organization has late rows behind its beginning', async () => {
    expect(await asked(oldestFirst, [{ ...page, lateUntil: '2025-08-01T00:00' }, page])).toEqual([
      '2025-03-01..2025-05-01',
      '..2026-11-24',
    ]);
    expect(await asked(oldestFirst, [{ ...page, lateUntil: '2025-03-01T00:00' }])).toHaveLength(1);
  });
});
