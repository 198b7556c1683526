import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { queueBackends, runPromtool, sendRequest } from '@enterprise-api/testkit';
import { expect, it } from '@jest/globals';
import { alertTestFiles, prometheusFolder } from '../../tools/monitoring/alert-rules.ts';
import { dashboardExpressions } from '../../tools/monitoring/dashboard.ts';
import { openTestStage } from '../e2e/stage.ts';

const accepted = { code: 0, output: expect.not.stringContaining('FAILED') };

it.each(queueBackends())(
  'the metrics of both services, queued on $name, pass the linter of Prometheus',
  async (backend) => {
    const stage = await openTestStage(backend);
    try {
      const [api, worker] = await Promise.all([stage.startApi(), stage.startWorker()]);
      for (const url of [api.internalUrl, worker.url]) {
        const { text } = await sendRequest({ method: 'GET', url: `${url}/metrics` });
        expect(runPromtool(['check', 'metrics'], text)).toEqual({ code: 0, output: '' });
      }
    } finally {
      await stage.close();
    }
  },
);

it('the example of a configuration, with the alert rules, is one that Prometheus accepts', () => {
  expect(runPromtool(['check', 'config', `${prometheusFolder}prometheus.yaml`])).toEqual(accepted);
});

it('every alert fires when it should, and not when it should not', () => {
  const files = alertTestFiles.map((file) => prometheusFolder + file);
  expect(files).toHaveLength(2);
  expect(runPromtool(['test', 'rules', ...files])).toEqual(accepted);
});

it('every expression of the dashboard is one that Prometheus accepts', () => {
  const rules = dashboardExpressions().map(({ expression }, at) => ({
    record: `panel:${at}`,
    expr: expression.replaceAll('$__rate_interval', '1m'),
  }));
  const folder = mkdtempSync(join(tmpdir(), 'dashboard-'));
  const file = join(folder, 'rules.yaml');
  try {
    // JSON is YAML.
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }));
    expect(runPromtool(['check', 'rules', file])).toEqual({
      code: 0,
      output: expect.stringContaining(`${rules.length} rules found`),
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
