import { expect, it } from '@jest/globals';
import { readExpression } from './promql.ts';

it('an expression tells the metrics that it selects, and the labels that it uses', () => {
  const expression =
    'sum by (job) (rate(one_total{result!="stop", job=~"$job"}[$__rate_interval])) / on (job) group_left (version) two > 0.5';
  expect(readExpression(expression)).toEqual({
    selectors: [
      { metric: 'one_total', labels: ['result', 'job'] },
      { metric: 'two', labels: [] },
    ],
    groupedBy: ['job', 'job', 'version'],
  });
});

it('functions and aggregations are no metrics', () => {
  const { selectors } = readExpression(
    'histogram_quantile(0.99, sum without (instance) (rate(x_bucket[5m] offset 1h)))',
  );
  expect(selectors).toEqual([{ metric: 'x_bucket', labels: [] }]);
});

it.each(['sum by (job (up)', 'rate(up[5m]', 'up >', '$metric'])('%s is refused', (expression) => {
  expect(() => readExpression(expression)).toThrow('No PromQL');
});

it('a selector without a metric is refused', () => {
  expect(() => readExpression('count({job="api"})')).toThrow('names no metric');
});
