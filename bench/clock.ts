const offset = Number(process.hrtime.bigint()) / 1e6 - performance.now();

/**
 * Milliseconds on the machine's monotonic clock, which all processes share: times of two processes can be subtracted.
 */
export function nowMs(): number {
  return offset + performance.now();
}
