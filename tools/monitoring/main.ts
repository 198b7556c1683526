import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';
import { type AlertGroups, readAlertGroups } from './alert-rules.ts';
import { createDashboard, dashboardFile } from './dashboard.ts';
import { alertProblems, dashboardProblems } from './problems.ts';

// `npm run monitoring` writes the dashboard, and the alert rules as Kubernetes keeps them. With --check, as a part of
// `make check`, it changes nothing: it says what is out of date, and what is wrong with both as far as it shows without Prometheus.
const project = fileURLToPath(new URL('../../', import.meta.url));
const ruleFile = fileURLToPath(new URL('../../deploy/kubernetes/monitoring/alert-rules.yaml', import.meta.url));

const written = [
  { file: dashboardFile, content: `${JSON.stringify(createDashboard(), null, 2)}\n` },
  { file: ruleFile, content: asPrometheusRule(readAlertGroups()) },
];

if (process.argv.includes('--check')) {
  const stale = written.filter(({ file, content }) => readFileSync(file, 'utf8') !== content);
  const problems = [
    ...stale.map(({ file }) => `${relative(project, file)} is out of date: run \`npm run monitoring\``),
    ...alertProblems(),
    ...dashboardProblems(),
  ];
  for (const problem of problems) console.error(`monitoring: ${problem}`);
  process.exitCode = problems.length > 0 ? 1 : 0;
} else {
  for (const { file, content } of written) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
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
