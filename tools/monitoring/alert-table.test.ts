import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { readAlertGroups } from './alert-rules.ts';

const page = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');
const rowsOfAlerts = /^\| \[(\w+)\]\(runbooks\.md#(\w+)\) \| (\w+) \| ([^|]+) \| ?([^|]*)\|$/gm;

it('docs/operations.md leads from each alert, with its severity, to its runbook', () => {
  const rows = [...page.matchAll(rowsOfAlerts)].map(([, name, anchor, severity]) => [name, anchor, severity]);
  const rules = readAlertGroups().flatMap((group) => group.rules);
  expect(rows).toEqual(rules.map(({ alert, labels }) => [alert, alert.toLowerCase(), labels.severity]));
});

it('docs/operations.md says of each critical alert, and of no other, what to do first', () => {
  const rows = [...page.matchAll(rowsOfAlerts)];
  const withFirst = rows.filter(([, , , , , first = '']) => first.trim() !== '').map(([, name]) => name);
  const critical = rows.filter(([, , , severity]) => severity === 'critical').map(([, name]) => name);
  expect(withFirst).toEqual(critical);
});
