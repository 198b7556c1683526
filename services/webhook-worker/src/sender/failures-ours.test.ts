import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { OutageRecord } from './failures.ts';

beforeAll(() => void jest.useFakeTimers({ now: 0 }));
afterAll(() => void jest.useRealTimers());

const pass = (ms: number) => jest.advanceTimersByTime(ms);

describe('a failure', () => {
  it('is not ours while the destination is the only one that fails', () => {
    const record = new OutageRecord();
    expect([record.failed('a'), record.failed('a'), record.failed('a')]).toEqual([false, false, false]);
  });

  it('is ours when another destination has failed too', () => {
    const record = new OutageRecord();
    expect([record.failed('a'), record.failed('b'), record.failed('a')]).toEqual([false, true, true]);
  });

  it('is not ours when a destination succeeded since the other ones failed', () => {
    const record = new OutageRecord();
    record.failed('a');
    record.failed('b');
    record.succeeded('c');
    expect([record.failed('a'), record.failed('a')]).toEqual([false, false]);
  });

  it('is not ours for a failure of another destination more than a minute ago', () => {
    const record = new OutageRecord();
    record.failed('a');
    pass(60_000);
    expect(record.failed('b')).toBe(false);
  });
});

describe('others succeed', () => {
  it('when another destination succeeded within the last minute, whatever this one did since', () => {
    const record = new OutageRecord();
    expect(record.othersSucceed('a')).toBe(false);
    record.succeeded('a');
    expect([record.othersSucceed('a'), record.othersSucceed('b')]).toEqual([false, true]);
    pass(10_000);
    record.succeeded('b');
    record.succeeded('b');
    expect([record.othersSucceed('a'), record.othersSucceed('b')]).toEqual([true, true]);
    pass(50_000);
    expect([record.othersSucceed('a'), record.othersSucceed('b')]).toEqual([true, false]);
    pass(10_000);
    expect(record.othersSucceed('a')).toBe(false);
  });
});
