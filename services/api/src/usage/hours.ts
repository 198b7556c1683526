export const hourMs = 60 * 60_000;

/** In UTC; both times in milliseconds since 1970. */
export function startOfHour(unixMs: number): number {
  return Math.floor(unixMs / hourMs) * hourMs;
}
