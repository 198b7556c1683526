import type { TablePlan } from './plan.ts';
import type { RetentionPeriods } from './settings.ts';

const hourMs = 3_600_000;

/** A plan as lines of text. */
export function describePlan(plans: readonly TablePlan[]): string[] {
  return plans.flatMap(describeTable);
}

/**
 * What is kept for how long, in one line: whoever runs the command by hand sees what it goes by.
 *
 * @param isSet whether a setting of this name was given; the others have their defaults
 */
export function describePeriods(periods: RetentionPeriods, isSet: (name: string) => boolean): string {
  const kept = Object.entries(periods).map(
    ([name, ms]) => `${name} ${Number.isFinite(ms) ? `${ms / hourMs}h` : 'for ever'}${isSet(name) ? '' : ' (default)'}`,
  );
  return `Kept: ${kept.join(', ')}. A month goes when its youngest rows are that old.`;
}

function describeTable({ name, now, kept, rows = 0, next }: TablePlan): string[] {
  const going = now.map((part) => (part.bytes > 0 ? `${part.name} (${megabytes(part.bytes)})` : part.name));
  if (rows > 0) going.push(`${rows} rows`);
  const lines = [`${name}: ${going.length > 0 ? `would go now: ${going.join(', ')}` : 'nothing would go now'}`];
  for (const { name: partition, pending } of kept)
    lines.push(`  ${partition} is kept: ${pending} pending in its month`);
  if (next !== null) lines.push(`  next: ${next.name}, from ${next.at.toISOString()} on`);
  return lines;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 ** 2).toFixed(1)} MB`;
}
