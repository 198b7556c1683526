import { describe, expect, it } from '@jest/globals';
import { parseWorkload } from './workload.ts';

const parse = (text: string) => parseWorkload(text.split(' ').filter((word) => word !== ''));
const problemsOf = (text: string) => {
  const parsed = parse(text);
  return parsed.kind === 'problems' ? parsed.problems : [];
};

describe('parseWorkload', () => {
  it('needs the rate of events alone', () => {
    expect(parse('--events-per-second 500')).toEqual({
      kind: 'workload',
      json: false,
      workload: {
        eventsPerSecond: 500,
        webhooksPerEvent: 1,
        requestsPerSecond: 0,
        payloadBytes: 1_024,
        latencyMs: 100,
        failing: 0.01,
        peak: 3,
        webhooks: undefined,
        workerConcurrency: 100,
        retentionBodiesDays: 30,
        retentionHistoryDays: 90,
        queue: 'redis',
      },
    });
    expect(problemsOf('')).toEqual(['--events-per-second is missing']);
  });

  it('takes durations as the settings have them, and 0 for ever', () => {
    const parsed = parse('--events-per-second 1 --retention-bodies 36h --retention-history 0 --queue postgres --json');
    expect(parsed).toMatchObject({
      json: true,
      workload: { retentionBodiesDays: 1.5, retentionHistoryDays: 365, queue: 'postgres' },
    });
  });

  it('keeps bodies as long as a history for ever, which is sized for a year', () => {
    for (const bodies of ['0', '0h', '9600h'])
      expect(parse(`--events-per-second 1 --retention-bodies ${bodies} --retention-history 0`)).toMatchObject({
        workload: { retentionBodiesDays: 365, retentionHistoryDays: 365 },
      });
    const longer = parse('--events-per-second 1 --retention-bodies 9600h --retention-history 12000h');
    expect(longer).toMatchObject({ workload: { retentionBodiesDays: 400, retentionHistoryDays: 500 } });
  });

  it('names all problems at once', () => {
    const args = '--events-per-second 0 --failing 2 --payload-bytes 1.5 --queue rabbit --retention-bodies 5';
    expect(problemsOf(args).toSorted()).toEqual([
      '--events-per-second is a number above 0 and at most 1000000, not 0',
      '--failing is a number from 0 to 1, not 2',
      '--payload-bytes is a whole number from 2 to 262144, not 1.5',
      '--queue is redis or postgres, not rabbit',
      '--retention-bodies is a duration such as 720h or 30d, or 0 for ever, not 5',
    ]);
  });

  it.each(['NaN', 'Infinity', '-1', '0x10', '1_000', ''])('takes no %s for a number', (text) => {
    const parsed = parseWorkload([`--events-per-second=${text}`]);
    expect(parsed).toEqual({
      kind: 'problems',
      problems: [`--events-per-second is a number above 0 and at most 1000000, not ${text}`],
    });
  });

  it('refuses unknown options, and bodies that are kept longer than the history', () => {
    expect(problemsOf('--events 5')[0]).toContain("Unknown option '--events'");
    for (const retention of ['--retention-bodies 0', '--retention-bodies 0 --retention-history 9600h'])
      expect(problemsOf(`--events-per-second 1 ${retention}`)).toEqual([
        '--retention-bodies is longer than --retention-history, which no worker accepts',
      ]);
  });
});
