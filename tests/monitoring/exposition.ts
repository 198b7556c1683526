/** What a process exports: the text format of Prometheus, taken apart. */
export interface Exposition {
  /** Type by name of metric. */
  readonly types: ReadonlyMap<string, string>;
  readonly series: readonly Series[];
}

interface Series {
  /** The name of its metric: a histogram's without `_bucket`, `_sum` or `_count`. */
  readonly metric: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** @throws on a line that is no comment and no sample, and on a sample of a metric without a type */
export function readExposition(text: string): Exposition {
  const types = new Map<string, string>();
  for (const [, name = '', type = ''] of text.matchAll(/^# TYPE (\w+) (\w+)$/gm)) types.set(name, type);
  const samples = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return { types, series: samples.map((line) => readSample(line, types)) };
}

function readSample(line: string, types: ReadonlyMap<string, string>): Series {
  const [, name = '', , labels = ''] = /^(\w+)(\{(.*)\})? \S+$/.exec(line) ?? [];
  const base = name.replace(/_(bucket|sum|count)$/, '');
  const metric = types.get(base) === 'histogram' ? base : name;
  if (!types.has(metric)) throw new Error(`Not a sample of a metric with a type: ${line}`);
  const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, label = '', value = '']) => [label, value]);
  return { metric, labels: Object.fromEntries(pairs) };
}
