import { fileURLToPath } from 'node:url';
import { eventRows } from './panels/events.ts';
import type { PanelSource, RowSource } from './panels/panel.ts';
import { partRows } from './panels/parts.ts';

/** Written by `npm run monitoring`. */
export const dashboardFile = fileURLToPath(new URL('../../deploy/grafana/enterprise-api.json', import.meta.url));

// biome-ignore lint/suspicious/noTemplateCurlyInString: Grafana replaces it, by the variable of that name.
const datasource = { type: 'prometheus', uid: '${datasource}' };
/** What `$of` stands for in an expression. */
const selected = 'job=~"$job", instance=~"$instance"';

/** Grafana's grid is 24 wide. */
const gridWidth = 24;
const graph = { w: 8, h: 8 };
const number = { w: 4, h: 4 };

/** The rows of the dashboard, from the whole to the parts. Gauges of the ledger are the same in every process: `max`. */
const rows: readonly RowSource[] = [...eventRows, ...partRows];

/** The dashboard as Grafana imports it. */
export function createDashboard(sources: readonly RowSource[] = rows): object {
  return {
    uid: 'enterprise-api',
    title: 'Enterprise API',
    description: 'Events in, deliveries out. What each figure means: docs/metrics.md; what to do: docs/runbooks.md.',
    tags: ['enterprise-api'],
    schemaVersion: 39,
    editable: true,
    graphTooltip: 1,
    refresh: '30s',
    time: { from: 'now-3h', to: 'now' },
    templating: { list: variables },
    panels: layOut(sources),
  };
}

/** Every expression of the dashboard as Grafana would send it for all jobs and instances. */
export function dashboardExpressions(sources: readonly RowSource[] = rows): { panel: string; expression: string }[] {
  return sources.flatMap((row) =>
    row.panels.flatMap(({ title, queries }) =>
      Object.values(queries).map((query) => ({
        panel: `${row.title}: ${title}`,
        expression: expanded(query).replaceAll('$job', '.*').replaceAll('$instance', '.*'),
      })),
    ),
  );
}

function expanded(query: string): string {
  return query.replaceAll('$of', selected);
}

const variable = (name: string, label: string, query: string) => ({
  name,
  label,
  type: 'query',
  datasource,
  definition: query,
  query: { query, refId: name },
  refresh: 2,
  includeAll: true,
  allValue: '.*',
  multi: true,
  current: { text: ['All'], value: ['$__all'] },
});

const variables = [
  { name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus' },
  variable('job', 'Job', 'label_values(enterprise_api_build_info, job)'),
  variable('instance', 'Instance', 'label_values(enterprise_api_build_info{job=~"$job"}, instance)'),
];

function layOut(sources: readonly RowSource[]): object[] {
  const panels: object[] = [];
  let y = 0;
  const add = (panel: object) => panels.push({ id: panels.length + 1, ...panel });
  for (const { title, panels: ofRow } of sources) {
    add({ type: 'row', title, collapsed: false, panels: [], gridPos: { x: 0, y, w: gridWidth, h: 1 } });
    y += 1;
    let x = 0;
    let height = 0;
    for (const source of ofRow) {
      const size = source.isNumber ? number : graph;
      if (x + size.w > gridWidth) [x, y] = [0, y + size.h];
      add({ ...panelOf(source), gridPos: { x, y, ...size } });
      x += size.w;
      height = size.h;
    }
    y += height;
  }
  return panels;
}

function panelOf({ title, unit, description, isNumber, queries }: PanelSource): object {
  return {
    type: isNumber ? 'stat' : 'timeseries',
    title,
    ...(description !== undefined && { description }),
    datasource,
    fieldConfig: { defaults: { unit, ...(!isNumber && { custom: { fillOpacity: 8 } }) }, overrides: [] },
    options: isNumber
      ? { reduceOptions: { calcs: ['lastNotNull'] }, colorMode: 'value', graphMode: 'area' }
      : { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi', sort: 'desc' } },
    targets: Object.entries(queries).map(([legend, query], at) => ({
      refId: String.fromCharCode('A'.charCodeAt(0) + at),
      datasource,
      expr: expanded(query),
      legendFormat: legend,
    })),
  };
}
