import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** A metric as docs/reference/metrics.md describes it. */
export interface ListedMetric {
  readonly name: string;
  readonly type: string;
  /** Without `service`, which every series has. */
  readonly labels: readonly string[];
  readonly services: readonly ServiceWithMetrics[];
}

export type ServiceWithMetrics = 'api' | 'webhook-worker';

/** The services that the tables below each heading are about. */
const sections: Readonly<Record<string, readonly ServiceWithMetrics[]>> = {
  'Both services': ['api', 'webhook-worker'],
  API: ['api'],
  Worker: ['webhook-worker'],
  'The process': ['api', 'webhook-worker'],
};

const page = fileURLToPath(new URL('../../docs/reference/metrics.md', import.meta.url));

/** Reads the tables of docs/reference/metrics.md, which tests compare with what the services export. */
export function readMetricList(markdown = readFileSync(page, 'utf8')): ListedMetric[] {
  return markdown.split(/^## /m).flatMap((section) => {
    const services = sections[section.split('\n', 1)[0] ?? ''] ?? [];
    const rows = [...section.matchAll(/^\| `(\w+)` \| (\w+) \|([^|]*)\| /gm)];
    return rows.map(([, name = '', type = '', labels = '']) => ({ name, type, labels: backticked(labels), services }));
  });
}

function backticked(text: string): string[] {
  return [...text.matchAll(/`(\w+)`/g)].map(([, name = '']) => name);
}
