const offset = Number(process.hrtime.bigint()) / 1e6 - performance.now();

/** Milliseconds on the machine's monotonic clock: the same in every process, so that times can be subtracted. */
export function nowMs(): number {
  return offset + performance.now();
}
