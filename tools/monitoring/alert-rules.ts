import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { z } from 'zod';

const ruleSchema = z.strictObject({
  alert: z.string(),
  expr: z.string(),
  for: z.string().exactOptional(),
  labels: z.strictObject({ severity: z.enum(['critical', 'warning']) }),
  annotations: z.strictObject({ summary: z.string(), description: z.string(), runbook_url: z.string() }),
});

/** An alert of deploy/prometheus/alerts.yaml. */
export type AlertRule = z.output<typeof ruleSchema>;

const rulesSchema = z.strictObject({
  groups: z.array(z.strictObject({ name: z.string(), rules: z.array(ruleSchema) })),
});

/** The groups of alert rules, as the rule file and Kubernetes' PrometheusRule have them. */
export type AlertGroups = z.output<typeof rulesSchema>['groups'];

const testsSchema = z.looseObject({
  tests: z.array(
    z.looseObject({
      promql_expr_test: z.array(z.looseObject({ expr: z.string(), exp_samples: z.array(z.unknown()) })),
    }),
  ),
});

export const prometheusFolder = fileURLToPath(new URL('../../deploy/prometheus/', import.meta.url));

const readYaml = (name: string): unknown => parse(readFileSync(prometheusFolder + name, 'utf8'));

/** @throws when the file has anything that an alert rule has not, or lacks what every alert here has */
export function readAlertGroups(): AlertGroups {
  return rulesSchema.parse(readYaml('alerts.yaml')).groups;
}

/** The tests of the alerts, for promtool. */
export const alertTestFiles = globSync('*.test.yaml', { cwd: prometheusFolder });

/** The alerts that a test expects to fire, and those that one expects not to. */
export function readTestedAlerts(): { firing: Set<string>; quiet: Set<string> } {
  const tests = alertTestFiles.flatMap((file) => testsSchema.parse(readYaml(file)).tests);
  const checks = tests.flatMap((test) => test.promql_expr_test);
  const named = (fires: boolean) =>
    checks
      .filter(({ exp_samples }) => exp_samples.length > 0 === fires)
      .map(({ expr }) => /alertname="(\w+)"/.exec(expr)?.[1] ?? '');
  return { firing: new Set(named(true)), quiet: new Set(named(false)) };
}
