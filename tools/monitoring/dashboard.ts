import { readFileSync } from 'node:fs';
import { z } from 'zod';

const panelSchema = z.object({
  type: z.string(),
  title: z.string(),
  targets: z.array(z.object({ expr: z.string() })).default([]),
});

/** Every expression of deploy/grafana/enterprise-api.json as Grafana would send it for all jobs and instances. */
export function dashboardExpressions(): { panel: string; expression: string }[] {
  const file = new URL('../../deploy/grafana/enterprise-api.json', import.meta.url);
  const { panels } = z.object({ panels: z.array(panelSchema) }).parse(JSON.parse(readFileSync(file, 'utf8')));
  let row = '';
  return panels.flatMap(({ type, title, targets }) => {
    if (type === 'row') row = title;
    return targets.map(({ expr }) => ({
      panel: `${row}: ${title}`,
      expression: expr.replaceAll('$job', '.*').replaceAll('$instance', '.*'),
    }));
  });
}
