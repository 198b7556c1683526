import { countFailures, type SuiteResult } from './suite-results.ts';

/** What the tests of one part of the project did. */
export interface Area {
  name: string;
  suites: number;
  passed: number;
  failed: number;
  /** The sum of its suites' durations, in seconds. Two suites run at a time. */
  seconds: number;
}

/** Sums the results up by the folder that a person looks for: a service, a package, or a kind of test under tests/. */
export function sumByArea(results: readonly SuiteResult[]): Area[] {
  const areas = new Map<string, Area>();
  for (const result of results) {
    const name = areaOf(result.file);
    const area = areas.get(name) ?? { name, suites: 0, passed: 0, failed: 0, seconds: 0 };
    area.suites += 1;
    area.passed += result.passed;
    area.failed += countFailures(result);
    area.seconds += (result.endedAt - result.startedAt) / 1_000;
    areas.set(name, area);
  }
  return [...areas.values()].sort((one, other) => one.name.localeCompare(other.name));
}

/** The first two folders of a path within the project, or the first one of tools and bench. */
function areaOf(path: string): string {
  const folders = path.split('/').filter(Boolean).slice(0, -1);
  return folders.slice(0, ['tools', 'bench'].includes(folders[0] ?? '') ? 1 : 2).join('/');
}

/** One line for each area, in columns. */
export function describeAreas(areas: readonly Area[]): string[] {
  const width = Math.max(...areas.map(({ name }) => name.length));
  return areas.map(({ name, suites, passed, failed, seconds }) => {
    const counts = [`${passed} passed`.padStart(12), `${failed} failed`.padStart(10)].join(',');
    return `${name.padEnd(width)} ${String(suites).padStart(4)} suites ${counts} ${seconds.toFixed(0).padStart(6)} s`;
  });
}
