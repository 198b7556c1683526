import { describe, expect, it } from '@jest/globals';
import { OutageRecord } from './failures.ts';

let now = 0;
const newRecord = () => new OutageRecord(() => now);

describe('a failure', () => {
  it('is not ours while the destination is the only one that fails', () => {
    const record = newRecord();
    expect([record.failed('a'), record.failed('a'), record.failed('a')]).toEqual([false, false, false]);
  });

  it('is ours when another destination has failed too', () => {
    const record = newRecord();
    expect([record.failed('a'), record.failed('b'), record.failed('a')]).toEqual([false, true, true]);
    expect(record.hasFailures).toBe(true);
  });

  it('is not ours when a destination succeeded since the other ones failed', () => {
    const record = newRecord();
    record.failed('a');
    record.failed('b');
    record.succeeded('c');
    expect(record.hasFailures).toBe(false);
    expect([record.failed('a'), record.failed('a')]).toEqual([false, false]);
  });

  it('is not ours for a failure of another destination more than a minute ago', () => {
    const record = newRecord();
    record.failed('a');
    now += 60_000;
    expect(record.failed('b')).toBe(false);
  });
});

describe('others succeed', () => {
  it('when another destination succeeded within the last minute, whatever this one did since', () => {
    const record = newRecord();
    expect(record.othersSucceed('a')).toBe(false);
    record.succeeded('a');
    expect([record.othersSucceed('a'), record.othersSucceed('b')]).toEqual([false, true]);
    now += 10_000;
    record.succeeded('b');
    record.succeeded('b');
    expect([record.othersSucceed('a'), record.othersSucceed('b')]).toEqual([true, true]);
    now += 50_000;
    expect([record.othersSucceed('a'), record.othersSucceed('b')]).toEqual([true, false]);
    now += 10_000;
    expect(record.othersSucceed('a')).toBe(false);
  });
});
