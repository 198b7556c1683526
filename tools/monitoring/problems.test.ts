import { describe, expect, it } from '@jest/globals';
import { alertProblems, expressionProblems } from './problems.ts';

describe('an expression', () => {
  it.each([
    ['rate(webhook_first_attempt_seconds_bucket{le="1"}[5m])', []],
    ['sum by (job, error) (webhook_attempts_total) + on (job) up', []],
    ['webhook_attempts', ['docs/reference/metrics.md lists no webhook_attempts']],
    ['webhook_first_attempt_seconds > 1', ['docs/reference/metrics.md lists no webhook_first_attempt_seconds']],
    ['webhook_attempts_total{route="/"}', ['webhook_attempts_total has no label route']],
    ['sum by (organization) (webhook_attempts_total)', ['no metric here has the label organization']],
    ['sum(webhook_attempts_total', ['No PromQL at "": sum(webhook_attempts_total']],
  ])('%s: %j', (expression, problems) => {
    expect(expressionProblems(expression)).toEqual(problems);
  });
});

describe('an alert rule', () => {
  const rule = (alert: string) => ({
    alert,
    expr: 'up == 0',
    labels: { severity: 'warning' as const },
    annotations: {
      summary: 's',
      description: 'd',
      runbook_url: `{{ $externalLabels.runbooks }}#${alert.toLowerCase()}`,
    },
  });
  const tested = { firing: new Set(['Down']), quiet: new Set(['Down']) };

  it('is complete with a section of the runbooks and both tests', () => {
    expect(alertProblems([{ name: 'g', rules: [rule('Down')] }], ['Down'], tested)).toEqual([]);
  });

  it('without them is not, nor is a section without an alert', () => {
    expect(alertProblems([{ name: 'g', rules: [rule('Late')] }], ['Down'], tested)).toEqual([
      'Late: docs/operators/runbooks.md has no section for it',
      'Late: no test makes it fire',
      'Late: no test has a time in which it does not fire',
      'docs/operators/runbooks.md: there is no alert Down',
    ]);
  });

  it('names its own section of the runbooks', () => {
    const wrong = {
      ...rule('Down'),
      annotations: { ...rule('Down').annotations, runbook_url: 'https://example.com/#up' },
    };
    expect(alertProblems([{ name: 'g', rules: [wrong] }], ['Down'], tested)).toEqual([
      'Down: runbook_url does not name its section',
    ]);
  });
});
