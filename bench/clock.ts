/**
 * Milliseconds on the machine's monotonic clock, which all processes share: times of two processes can be subtracted.
 * Not an offset to `performance.now()`: Node.js loads that lazily, for some milliseconds between the two readings.
 */
export function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
