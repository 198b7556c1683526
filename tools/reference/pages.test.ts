import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { settingNames } from '@enterprise-api/shared/runtime';
import { expect, it } from '@jest/globals';
import { readAlertGroups } from '../monitoring/alert-rules.ts';
import { stalePages } from './pages.ts';

const alerts = readAlertGroups().flatMap((group) => group.rules);
const page = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

it('the generated pages are up to date', () => {
  expect(stalePages()).toEqual([]);
});

it('the page of settings has every setting once', () => {
  const names = [...page('docs/reference/settings.md').matchAll(/^\| `([A-Z_]+)` \|/gm)].map(([, name]) => name);
  expect(names.toSorted()).toEqual([...settingNames].toSorted());
});

it('runbooks.html has the section that each alert links to, and nothing leads out of it', () => {
  const folder = mkdtempSync(join(tmpdir(), 'runbooks-'));
  try {
    const file = join(folder, 'runbooks.html');
    execFileSync(process.execPath, [
      fileURLToPath(new URL('../../services/api/src/runbooks-main.ts', import.meta.url)),
      file,
    ]);
    const html = readFileSync(file, 'utf8');
    const anchors = alerts.map(({ annotations }) =>
      annotations.runbook_url.replace('{{ $externalLabels.runbooks }}#', ''),
    );
    expect(anchors.filter((anchor) => !html.includes(`<h3 id="${anchor}">`))).toEqual([]);
    expect(html).not.toMatch(/href="(?!#)/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it('the runbooks mark exactly the critical alerts', () => {
  const marked = [...page('docs/operators/runbooks.md').matchAll(/^### (\w+)\n\n\*\*Critical\*\*$/gm)];
  const critical = alerts.filter(({ labels }) => labels.severity === 'critical');
  expect(marked.map(([, name]) => name)).toEqual(critical.map(({ alert }) => alert));
});
