import { describe, expect, it } from '@jest/globals';
import { until } from './until.ts';

const quick = { everyMs: 1 };

describe('until', () => {
  it('returns the first answer for which the condition holds', async () => {
    let asked = 0;
    const ask = () => ++asked;
    expect(await until('three questions', ask, { ...quick, holds: (count) => count >= 3 })).toBe(3);
  });

  it('asks again when the question throws', async () => {
    const answers = [() => Promise.reject(new Error('away')), () => Promise.resolve('here')];
    expect(await until('an answer', () => answers.shift()?.(), quick)).toBe('here');
  });

  it('fails at its bound with the condition and the last answer', async () => {
    const waiting = until('a second row', () => ['first'], {
      ...quick,
      withinMs: 20,
      holds: (rows) => rows.length > 1,
    });
    await expect(waiting).rejects.toThrow('Not within 0.02 s: a second row. Last: ["first"]');
  });

  it('ends with the reason of its signal', async () => {
    const reason = new Error('the process ended');
    const waiting = until('never', () => false, { ...quick, signal: AbortSignal.abort(reason) });
    await expect(waiting).rejects.toBe(reason);
  });

  it('fails at its bound with the last error when the question threw', async () => {
    const cause = new Error('connection refused');
    const waiting = until('an answer', () => Promise.reject(cause), { ...quick, withinMs: 20 });
    await expect(waiting).rejects.toMatchObject({ message: expect.stringContaining('connection refused'), cause });
  });
});
