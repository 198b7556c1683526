import { parser } from '@prometheus-io/lezer-promql';

/** What an expression of PromQL reads. */
export interface ExpressionUses {
  /** The metrics that it selects, and the labels by which it narrows each. */
  readonly selectors: readonly { readonly metric: string; readonly labels: readonly string[] }[];
  /** Labels that it groups, joins or keeps series by. */
  readonly groupedBy: readonly string[];
}

/** Grafana puts a duration in the place of these. */
const durations = /\$__(rate_interval|interval|range)\b/g;

/** @throws when the text is no PromQL, or selects series without the name of a metric */
export function readExpression(expression: string): ExpressionUses {
  const text = expression.replace(durations, '5m');
  const selectors: { metric: string; labels: string[] }[] = [];
  const groupedBy: string[] = [];
  let isGrouping = false;
  parser.parse(text).iterate({
    enter: ({ name, from, to, type }) => {
      if (type.isError) throw new Error(`No PromQL at "${text.slice(from, from + 30)}": ${expression}`);
      if (name === 'VectorSelector') selectors.push({ metric: '', labels: [] });
      if (name === 'GroupingLabels') isGrouping = true;
      const selector = selectors.at(-1);
      if (name === 'Identifier' && selector) selector.metric = text.slice(from, to);
      if (name === 'LabelName') (isGrouping ? groupedBy : (selector?.labels ?? [])).push(text.slice(from, to));
    },
    leave: ({ name }) => {
      if (name === 'GroupingLabels') isGrouping = false;
    },
  });
  if (selectors.some(({ metric }) => metric === '')) throw new Error(`A selector names no metric: ${expression}`);
  return { selectors, groupedBy };
}
