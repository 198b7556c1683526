import { describe, expect, it } from '@jest/globals';
import { difference, ticksOf, total } from './cpu.ts';

describe('ticksOf', () => {
  it('adds up the time of a process and of its children that have ended', () => {
    const line = '42 (a (strange) name) S 1 42 42 0 -1 4194560 100 200 0 0 11 22 33 44 20 0 1 0 12345 1000 10';
    expect(ticksOf(line)).toBe(110);
  });

  it('is 0 for a process that has ended', () => {
    expect(ticksOf('')).toBe(0);
  });
});

describe('difference', () => {
  it('counts a process that was started in between from 0', () => {
    const used = difference({ api: 100 }, { api: 150, worker: 30 });
    expect(used).toEqual({ api: 50, worker: 30 });
    expect(total(used)).toBe(80);
  });
});
