import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';
import { type AlertGroups, readAlertGroups } from './alert-rules.ts';
import { alertProblems, dashboardProblems } from './problems.ts';

// `npm run monitoring` writes the alert rules as Kubernetes keeps them. With --check, as a part of `make check`, it changes
// nothing: it says whether they are out of date, and what is wrong with rules and dashboard as far as it shows without Prometheus.
const ruleFile = fileURLToPath(new URL('../../deploy/kubernetes/monitoring/alert-rules.yaml', import.meta.url));

const content = asPrometheusRule(readAlertGroups());

if (process.argv.includes('--check')) {
  const isStale = readFileSync(ruleFile, 'utf8') !== content;
  const stale = isStale
    ? ['deploy/kubernetes/monitoring/alert-rules.yaml is out of date: run `npm run monitoring`']
    : [];
  const problems = [...stale, ...alertProblems(), ...dashboardProblems()];
  for (const problem of problems) console.error(`monitoring: ${problem}`);
  process.exitCode = problems.length > 0 ? 1 : 0;
} else {
  writeFileSync(ruleFile, content);
}

function asPrometheusRule(groups: AlertGroups): string {
  const rule = {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PrometheusRule',
    metadata: { name: 'enterprise-api', namespace: 'enterprise-api' },
    spec: { groups },
  };
  return `# Made of deploy/prometheus/alerts.yaml by \`npm run monitoring\`.\n${stringify(rule, { lineWidth: 0 })}`;
}
