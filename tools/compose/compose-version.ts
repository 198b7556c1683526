/** docker-compose.yml uses `depends_on` with `required: false`, which older versions of Compose reject. */
export const oldestCompose = '2.20.2';

/** Whether a version that `docker compose version --short` printed, such as `v2.39.1-desktop.1`, can read our file. */
export function canReadOurFile(version: string): boolean {
  return compare(numbersOf(version), numbersOf(oldestCompose)) >= 0;
}

function numbersOf(version: string): number[] {
  return [...(/^v?(\d+)\.(\d+)\.(\d+)/.exec(version.trim())?.slice(1) ?? [])].map(Number);
}

function compare(left: readonly number[], right: readonly number[]): number {
  if (left.length === 0) return -1;
  const difference = left.map((number, index) => number - (right[index] ?? 0));
  return difference.find((value) => value !== 0) ?? 0;
}
