import { describe, expect, it } from '@jest/globals';
import { nameOf, planOf, selection } from './plan.ts';

describe('planOf', () => {
  it('makes each series of the full form in its number of rounds, every second round reversed', () => {
    const plan = planOf('full', selection('W1 B2'));
    const names = plan.map((run) => `${nameOf(run)} ${run.round}`);
    const rounds = ['W1 1,B2 1,W1 postgres 1,W1 one-core 1', 'B2 2,W1 2', 'W1 3,B2 3', 'B2 4,W1 4', 'W1 5,B2 5'];
    expect(names.join()).toBe(rounds.join());
  });

  it('takes less than five minutes in the short form and less than an hour in full', () => {
    const minutes = (form: 'short' | 'full') => planOf(form).reduce((sum, run) => sum + run.seconds, 0) / 60;
    expect(minutes('short')).toBeLessThan(5);
    expect(minutes('full')).toBeLessThan(60);
  });

  it('has no run twice', () => {
    const keys = planOf('full').map((run) => `${nameOf(run)} ${run.round}`);
    expect(new Set(keys).size).toBe(keys.length);
  });

  it('has a series that is only made by name when it is named', () => {
    expect(planOf('short').map(nameOf)).not.toContain('W1C');
    expect(planOf('short', selection('W1C')).map(nameOf)).toEqual(['W1C', 'W1C postgres']);
  });

  it('has only the main path in the smoke form', () => {
    expect(planOf('smoke').map(nameOf)).toEqual(['W1', 'W2', 'W7b', 'W7a']);
  });
});

describe('selection', () => {
  it('selects by name, and by what several names begin with', () => {
    expect(selection('W2, B1')).toEqual(['W2', 'B1']);
    expect(selection('W7')).toEqual(['W7a', 'W7b']);
    expect(selection('')).toEqual([]);
  });

  it('refuses an unknown name', () => {
    expect(() => selection('W8')).toThrow('Unknown: W8');
  });
});
