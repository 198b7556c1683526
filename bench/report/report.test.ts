import { describe, expect, it } from '@jest/globals';
import { goals, growthSizes, verdict } from './goals.ts';
import type { RunRecord } from './results.ts';
import { costTable, goalTable, remarks } from './tables.ts';
import { viewOf } from './view.ts';

const machine = { cpu: 'A processor', cores: 2, memory_gb: 8, system: 'Linux', node: '24', postgres: '18', redis: '7' };

function run(
  id: RunRecord['id'],
  round: number,
  figures: Record<string, number>,
  more: Partial<RunRecord> = {},
): RunRecord {
  const frame = {
    form: 'full',
    setting: 'redis',
    commit: 'abc1234',
    date: '2026-11-21T00:00:00.000Z',
    seconds: 1,
  } as const;
  return { id, round, figures, machine, calibration: [2, 2], noisy: false, problems: [], ...frame, ...more };
}

describe('viewOf', () => {
  const view = viewOf([
    run('W1', 1, { cpu_us: 200 }),
    run('W1', 2, { cpu_us: 300 }),
    run('W1', 1, { cpu_us: 1_000 }, { setting: 'postgres' }),
    run('B2', 1, { cpu_us: 800 }),
    run('B2', 2, { cpu_us: 600 }, { commit: 'other' }),
    run('B2', 3, { cpu_us: 1 }, { problems: ['void'] }),
  ]);

  it('has the values of a series without those of void runs', () => {
    expect(view.values('W1', 'cpu_us')).toEqual([200, 300]);
    expect(view.values('W1 postgres', 'cpu_us')).toEqual([1_000]);
    expect(view.values('B2', 'cpu_us')).toEqual([800, 600]);
  });

  it('compares only figures of the same round and commit', () => {
    expect(view.ratios(['B2', 'cpu_us'], ['W1', 'cpu_us'])).toEqual([4]);
  });
});

describe('goals', () => {
  const [first] = goals(10_000);
  const least = goals(10_000).find((goal) => goal.at === 'least');

  it('says which limit a median reaches, for upper and lower limits', () => {
    expect(first).toMatchObject({ at: 'most', must: 6, stretch: 3 });
    expect([3, 6, 6.1].map((median) => first && verdict(first, median))).toEqual(['stretch', 'yes', 'no']);
    expect(least).toMatchObject({ must: 7_000, stretch: 12_000 });
    expect([12_000, 7_000, 6_999].map((median) => least && verdict(least, median))).toEqual(['stretch', 'yes', 'no']);
  });

  it('uses the greatest history that was measured', () => {
    const runs = [run('W10', 1, { cpu_us_at_10000: 1, cpu_us_at_1000000: 2, page_p95_at_1000000: 5 })];
    expect(growthSizes(runs)).toEqual([10_000, 1_000_000]);
    expect(goalTable(runs).join('\n')).toContain('at 1,000,000 rows against 10,000 | ≤ 1.3 × | ≤ 1.1 × | 2 × | no');
  });
});

describe('tables', () => {
  const runs = [
    run('W1', 1, { cpu_us: 200, api_us: 90, rss: 400e6 }),
    run('W1', 2, { cpu_us: 220, api_us: 100, rss: 420e6 }, { noisy: true, calibration: [2, 2.5] }),
    run('W2', 1, {}, { problems: ['3 pairs were received, not 4'] }),
  ];

  it('show median, least and most, and name the void runs', () => {
    const table = goalTable(runs).join('\n');
    expect(table).toContain(
      '| peak memory of API and worker, W1 and W2 | ≤ 450 MB | ≤ 250 MB | 410 (400–420) MB | yes |',
    );
    expect(table).toContain('| loss, wrong signatures | 0 | 0 | 1 of 3 runs are void | no |');
    expect(costTable(runs).join('\n')).toContain(
      '| W1 | single: 1 organization × 1 webhook | 2 | 210 (200–220) | 95 /',
    );
    expect(remarks(runs)).toEqual([
      '- W1, round 2: the machine changed meanwhile (an HMAC took 2 µs before, 2.5 µs after).',
      '- W2, round 1: void. 3 pairs were received, not 4.',
    ]);
  });
});
