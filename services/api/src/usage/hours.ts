export const hourMs = 60 * 60_000;

/** When the hour that a time lies in begins, UTC; both in milliseconds since 1970. */
export function startOfHour(unixMs: number): number {
  return Math.floor(unixMs / hourMs) * hourMs;
}
