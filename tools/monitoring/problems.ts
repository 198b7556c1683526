import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type AlertGroups, type AlertRule, readAlertGroups, readTestedAlerts } from './alert-rules.ts';
import { dashboardExpressions } from './dashboard.ts';
import { type ListedMetric, readMetricList } from './metric-list.ts';
import { readExpression } from './promql.ts';

/** Labels that Prometheus adds, and the one of every series. */
const labelsOfAll = ['job', 'instance', 'service'];
/** What Prometheus records of each target. */
const ofPrometheus: ListedMetric = { name: 'up', type: 'gauge', labels: [], services: [] };

/** What is wrong with an expression: no PromQL, or a metric or label that docs/reference/metrics.md does not list. */
export function expressionProblems(expression: string, listed = readMetricList()): string[] {
  const known = seriesOf([...listed, ofPrometheus]);
  try {
    const { selectors, groupedBy } = readExpression(expression);
    const unknown = selectors.filter(({ metric }) => !known.has(metric));
    const labelled = selectors.flatMap(({ metric, labels }) =>
      labels.filter((label) => !known.get(metric)?.includes(label)).map((label) => `${metric} has no label ${label}`),
    );
    const possible = new Set(selectors.flatMap(({ metric }) => known.get(metric) ?? []));
    return [
      ...unknown.map(({ metric }) => `docs/reference/metrics.md lists no ${metric}`),
      ...labelled.filter(() => unknown.length === 0),
      ...groupedBy.filter((label) => !possible.has(label)).map((label) => `no metric here has the label ${label}`),
    ];
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}

/** The labels of each name under which series are stored. */
function seriesOf(listed: readonly ListedMetric[]): Map<string, readonly string[]> {
  const series = listed.flatMap(({ name, type, labels }): [string, readonly string[]][] => {
    const all = [...labels, ...labelsOfAll];
    if (type !== 'histogram') return [[name, all]];
    return [
      [`${name}_bucket`, [...all, 'le']],
      [`${name}_sum`, all],
      [`${name}_count`, all],
    ];
  });
  return new Map(series);
}

const runbooks = fileURLToPath(new URL('../../docs/operators/runbooks.md', import.meta.url));

/** What is wrong with the alert rules: their expressions, their runbooks, their tests. */
export function alertProblems(
  groups: AlertGroups = readAlertGroups(),
  sections = sectionsOf(readFileSync(runbooks, 'utf8')),
  tested = readTestedAlerts(),
): string[] {
  const rules = groups.flatMap((group) => group.rules);
  const names = rules.map(({ alert }) => alert);
  return [
    ...rules.flatMap((rule) => ruleProblems(rule, sections, tested).map((problem) => `${rule.alert}: ${problem}`)),
    ...sections
      .filter((name) => !names.includes(name))
      .map((name) => `docs/operators/runbooks.md: there is no alert ${name}`),
    ...names.filter((name, at) => names.indexOf(name) !== at).map((name) => `${name}: appears more than once`),
  ];
}

function ruleProblems(rule: AlertRule, sections: readonly string[], tested: ReturnType<typeof readTestedAlerts>) {
  const { alert, expr, annotations } = rule;
  return [
    ...expressionProblems(expr),
    ...(sections.includes(alert) ? [] : ['docs/operators/runbooks.md has no section for it']),
    ...(annotations.runbook_url === `{{ $externalLabels.runbooks }}#${alert.toLowerCase()}`
      ? []
      : ['runbook_url does not name its section']),
    ...(tested.firing.has(alert) ? [] : ['no test makes it fire']),
    ...(tested.quiet.has(alert) ? [] : ['no test has a time in which it does not fire']),
  ];
}

function sectionsOf(markdown: string): string[] {
  return [...markdown.matchAll(/^### (\w+)$/gm)].map(([, name = '']) => name);
}

/** What is wrong with the expressions of the dashboard. */
export function dashboardProblems(): string[] {
  return dashboardExpressions().flatMap(({ panel, expression }) =>
    expressionProblems(expression).map((problem) => `${panel}: ${problem}`),
  );
}
